/*
 * A verb in the words of every log, report and question. Each form fits the words before it: `the request to
 * create a backup`, and `asked for a backup` when that is over.
 */

interface Words {
  /** After `to`. `{the backup|id}` is the noun with that field of the verb's input, if known. */
  readonly to: string;
  /** The past form. For a call that is sent once it only says that it was asked for. */
  readonly did: string;
  /** For a verb that is sent once: as every revision has it, below the instance's address. */
  readonly call?: string;
  /** The task that the service creates for the call. */
  readonly makes?: 'backup' | 'restore';
}

/** Words by the names in `machines/verbs.ts`, which the journal also uses. */
const WORDS: Readonly<Record<string, Words>> = {
  preflight: { to: 'look at the instance', did: 'looked at the instance' },
  recheck: { to: 'look at the instance again', did: 'looked at the instance again' },
  listBackups: { to: 'ask for the backups', did: 'asked for the backups' },
  pitrRange: { to: 'ask which times can be restored', did: 'asked which times can be restored' },
  reconcile: { to: 'count the data', did: 'counted the data' },
  readCard: { to: 'read what is on record', did: 'read what is on record' },
  inspectTarget: { to: 'look at the target', did: 'looked at the target' },
  findBound: { to: 'look up what is bound', did: 'looked up what is bound' },
  askOutside: { to: 'ask what the check names', did: 'asked what the check names' },
  runCommand: { to: 'run the command', did: 'ran the command' },
  runOnce: { to: 'run the command once', did: 'began the command' },
  tellPeople: { to: 'tell people', did: 'told people' },
  waitFor: { to: 'let time pass', did: 'let time pass' },
  updatesChangeable: {
    to: 'ask whether updates can be held back',
    did: 'asked whether updates can be held back',
  },
  createBackup: {
    to: 'create a backup',
    did: 'asked for a backup',
    call: 'POST /backups',
    makes: 'backup',
  },
  waitForBackup: { to: 'wait for {the backup|id}', did: 'waited for {the backup|id}' },
  downloadBackup: { to: 'download {the backup|id}', did: 'downloaded {the backup|id}' },
  verifyBackup: { to: 'verify {the backup|backup}', did: 'verified {the backup|backup}' },
  negativeTest: { to: 'try the other keys', did: 'tried the other keys' },
  restoreBackup: {
    to: 'restore {the backup|backup}',
    did: 'asked for the restore of {the backup|backup}',
    call: 'POST /backups/:backup/restore',
    makes: 'restore',
  },
  performRecovery: {
    to: 'recover the backup into the target',
    did: 'asked for the recovery into the target',
    call: 'POST /disaster-recovery/perform',
    makes: 'restore',
  },
  restoreToTime: {
    to: 'restore to a point in time',
    did: 'asked for a restore to a point in time',
    call: 'POST /pitr/restore',
    makes: 'restore',
  },
  waitForRestore: { to: 'wait for {the restore|id}', did: 'waited for {the restore|id}' },
  restart: { to: 'restart the instance', did: 'asked for the restart', call: 'PATCH /restart' },
  recreate: { to: 'recreate the instance', did: 'asked for it to be recreated', call: 'PATCH /recreate' },
  update: { to: 'update the instance', did: 'asked for the update', call: 'PATCH /updates' },
  waitForInstance: { to: 'wait for the instance', did: 'waited for the instance' },
  changeBackupSettings: { to: 'change the backup settings', did: 'changed the backup settings' },
  changeUpdateSetting: { to: 'change the update setting', did: 'changed the update setting' },
  storeKey: { to: 'store the key', did: 'stored the key' },
  escrowKey: { to: 'seal copies of the key', did: 'sealed copies of the key' },
  readBackKey: { to: 'read the stored key back', did: 'read the stored key back' },
  setKey: { to: 'set {the key|fingerprint}', did: 'set {the key|fingerprint}' },
  prepareRecovery: {
    to: 'prepare the recovery',
    did: 'prepared the recovery',
  },
  unbindApp: { to: 'unbind {the application|app.name}', did: 'unbound {the application|app.name}' },
  bindApp: { to: 'bind {the application|app.name}', did: 'bound {the application|app.name}' },
  restageApp: { to: 'restage {the application|app.name}', did: 'restaged {the application|app.name}' },
  renewServiceKey: {
    to: 'recreate {the service key|key.name}',
    did: 'recreated {the service key|key.name}',
  },
  reconnectApp: {
    to: 'run the command that reconnects {the application|app.name}',
    did: 'ran the command that reconnects {the application|app.name}',
  },
  proveApp: { to: 'check {the application|app.name}', did: 'checked {the application|app.name}' },
  recordCard: { to: 'record the recovery card', did: 'recorded the recovery card' },
  recordProof: { to: 'record the proof', did: 'recorded the proof' },
  recordRecovery: { to: 'record the recovery', did: 'recorded the recovery' },
  recordRotation: { to: 'record the rotation', did: 'recorded the rotation' },
};

export const WORDED: readonly string[] = Object.keys(WORDS);

/**
 * Follows `to`. A verb without words, of another version, is shown by its name: `dropDatabase` as `drop
 * database`. Not cleaned.
 */
export function verbTo(verb: string, input?: unknown): string {
  return filled(wordsOf(verb)?.to, input) ?? spaced(verb);
}

/** The past form of `verbTo`: `verified backup 7`. */
export function verbDid(verb: string, input?: unknown): string {
  return filled(wordsOf(verb)?.did, input) ?? `done: ${spaced(verb)}`;
}

/** `POST /backups`; undefined for a verb that is not sent once, or if the input lacks an id of the path. */
export function callOf(verb: string, input?: unknown): string | undefined {
  const call = wordsOf(verb)?.call;
  const whole = call?.replace(/:(\w+)/u, (slot, field: string) => fieldOf(input, field) ?? slot);
  return whole?.includes(':') === true ? undefined : whole;
}

/** `backup 7`; undefined without an id. */
export function madeBy(verb: string, output: unknown): string | undefined {
  const makes = wordsOf(verb)?.makes;
  const id = fieldOf(output, 'id');
  return makes === undefined || id === undefined ? undefined : `${makes} ${id}`;
}

export function notOffered(id: number): string {
  return `the service does not offer backup ${id} for download (downloadable: false); trying anyway`;
}

/** `fetchOld` is a name for programs; people read `fetch old`. */
export function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function wordsOf(verb: string): Words | undefined {
  return Object.hasOwn(WORDS, verb) ? WORDS[verb] : undefined;
}

function filled(words: string | undefined, input: unknown): string | undefined {
  return words?.replace(/\{the ([^|]+)\|([\w.]+)\}/u, (_, noun: string, field: string) => {
    const named = fieldOf(input, field);
    return named === undefined ? `the ${noun}` : `${noun} ${named}`;
  });
}

function fieldOf(value: unknown, path: string): string | undefined {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}
