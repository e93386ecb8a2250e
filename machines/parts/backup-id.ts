/*
 * What ids of backups tell. The service calls a `backup_id` a text and no more (service-api.md section 2.1);
 * the Backup Manager makes it of the guid of the instance's backups and a time in milliseconds (domain 1.2).
 * An id of another form proves nothing about a guid.
 */

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const IS_GUID = new RegExp(`^${GUID}$`, 'iu');
const GUID_AND_TIME = new RegExp(`^(${GUID})-\\d+$`, 'iu');
/** Of an id that begins with no guid; a time in milliseconds has 13 digits, one in seconds 10. */
const TIME_AT_END = /-\d{10,}$/u;

/** The guid that the id of a backup begins with, as it is written there; undefined where it shows none. */
export function guidOf(backupId: string | undefined): string | undefined {
  return GUID_AND_TIME.exec(backupId ?? '')?.[1];
}

/** Whether an id is that of one backup, which ends with a time, and not the guid of all of an instance. */
export function isOneBackup(id: string): boolean {
  return withoutTime(id) !== id;
}

/**
 * Whether two guids or ids may be of the backups of one instance. It is asked before anything is overwritten,
 * so it also goes by what an id of another form begins with. The case of letters makes no difference.
 */
export function mayBeOfOneInstance(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  const [head, otherHead] = [withoutTime(first), withoutTime(second)];
  return head === otherHead || first.startsWith(`${otherHead}-`) || second.startsWith(`${head}-`);
}

/** A guid may end in twelve digits, which are no time. */
function withoutTime(id: string): string {
  return guidOf(id) ?? (IS_GUID.test(id) ? id : id.replace(TIME_AT_END, ''));
}
