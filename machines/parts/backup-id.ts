/*
 * For the service a `backup_id` is only a text (service-api.md section 2.1). The Backup Manager makes it of
 * the GUID of the instance's backups and a time in milliseconds (domain 1.2). An id of another form proves
 * nothing about a GUID.
 */

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const IS_GUID = new RegExp(`^${GUID}$`, 'iu');
const GUID_AND_TIME = new RegExp(`^(${GUID})-\\d+$`, 'iu');
/** Of an id without a GUID at its start; a time in milliseconds has 13 digits, one in seconds 10. */
const TIME_AT_END = /-\d{10,}$/u;

/** The GUID at the start of a backup's id, as written there; undefined if there is none. */
export function guidOf(backupId: string | undefined): string | undefined {
  return GUID_AND_TIME.exec(backupId ?? '')?.[1];
}

/** True for the id of one backup, which ends with a time; false for the GUID of an instance's backups. */
export function isOneBackup(id: string): boolean {
  return withoutTime(id) !== id;
}

/**
 * Whether two GUIDs or ids may belong to one instance. It is asked before anything is overwritten, so it also
 * compares the start of ids of another form. Ignores case.
 */
export function mayBeOfOneInstance(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  const [head, otherHead] = [withoutTime(first), withoutTime(second)];
  return head === otherHead || first.startsWith(`${otherHead}-`) || second.startsWith(`${head}-`);
}

/** A GUID may end in twelve digits, which are no time. */
function withoutTime(id: string): string {
  return guidOf(id) ?? (IS_GUID.test(id) ? id : id.replace(TIME_AT_END, ''));
}
