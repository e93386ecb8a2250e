/** A command of the command line, as a person looks for it who does not know its name. */
export interface CommandWords {
  /** Without `lifeboat`. */
  readonly name: string;
  readonly about: string;
  readonly words: string;
}

const rows: readonly (readonly [name: string, about: string, words?: string])[] = [
  ['run', 'run a runbook, one safe step at a time', 'begin start recovery dry-run plan'],
  [
    'resume',
    'resume a run, or end it as it is with --abandon',
    'continue go on abandon give up take over call in doubt lost answer unknown',
  ],
  ['watch', 'watch a run that another process drives', 'look colleague'],
  ['runs', 'list runs and their progress', 'history calls in doubt lost answer unknown'],
  ['status', 'show whether each instance could be recovered now', 'health recoverable overview'],
  ['followups list', 'list the work that recoveries leave', 'follow-ups follow up todo open tasks'],
  ['followups run', 'do a follow-up from here', 'follow-up rebind restage'],
  ['followups done', 'close a follow-up with a proof', 'follow-up finish close'],
  ['followups skip', 'leave a follow-up undone, with a reason', 'follow-up close'],
  ['approve', 'sign what a colleague is about to do', 'second person four eyes confirm'],
  ['approvals', 'show what waits for a second person', 'four eyes'],
  ['approvals accept', 'take the signature of a colleague', 'second person four eyes'],
  ['approvals withdraw', 'withdraw an approval', 'second person four eyes revoke'],
  ['notify send', 'deliver notifications that are due', 'alert mail webhook'],
  ['notify test', 'try the targets of notifications', 'alert mail webhook'],
  ['drill', 'rehearse a recovery on a lab; compare every row', 'exercise game day practice test rehearsal'],
  ['lab', 'run the simulated service on this machine', 'simulator sandbox try'],
  ['verify', 'check a downloaded backup to its last byte', 'decrypt open test integrity'],
  ['audit verify', 'prove that the journal was not changed', 'tamper intact evidence signature'],
  ['audit show', 'print the entries of the journal', 'log events history'],
  ['audit export', 'write the journal as a bundle with its verifier', 'evidence auditor zip hand over'],
  ['audit anchor', 'print the anchor of the journal, for a ticket', 'digest checkpoint pin'],
  ['audit accept-loss', 'go on after the journal was rolled back', 'rollback lost'],
  ['audit key', 'print the public key that signs the journal', 'pin signature'],
  ['report', 'write the record of a run, for people and auditors', 'html evidence pdf print'],
  ['keys list', 'list encryption keys by fingerprint', 'passphrase password secret'],
  ['keys add', 'store an encryption key', 'enter import passphrase password secret'],
  ['store init', 'set up the store of a team', 'postgres database shared'],
  ['store status', 'show the store of the journal', 'postgres database sqlite'],
  ['store copy', 'copy the journal into another store', 'move migrate postgres'],
  ['store endorse', 'vouch for the key of a colleague', 'join trust member'],
  ['prune', 'remove old drills, downloads and rehearsals', 'clean delete disk space'],
  ['backups list', 'list the backups of an instance', 'snapshots'],
  ['backups get', 'show one backup', 'snapshot'],
  ['backups create', 'create a backup', 'snapshot take now'],
  ['backups download', 'download a backup', 'fetch save file'],
  ['backups restore', 'restore a backup, without a runbook', 'bring back'],
  ['restores list', 'list the restores of an instance', 'tasks'],
  ['restores get', 'show one restore', 'task'],
  ['backup-config get', 'show the backup configuration', 'schedule retention settings'],
  ['backup-config set', 'change the backup configuration', 'schedule retention encryption key settings'],
  ['instance show', 'show an instance', 'state info'],
  ['instance restart', 'restart an instance', 'stuck reboot hang'],
  ['instance recreate', 'have the machines of an instance rebuilt', 'broken rebuild'],
  ['instance update', 'have an instance updated', 'upgrade patch maintenance'],
  ['instance settings', 'show or change whether updates are allowed', 'maintenance freeze'],
  ['metrics', 'show measurements; disks and their parachute first', 'cpu memory disk load monitoring'],
  ['pitr show', 'show the point-in-time range', 'point in time window archive wal'],
  ['pitr restore', 'restore to a point in time, without a runbook', 'undo deleted rows wal'],
  ['dr prepare', 'ask for the guid of the backups', 'disaster recovery card'],
  ['dr perform', 'recover into another instance, without a runbook', 'disaster recovery region lost'],
  ['init', 'write a config, and try what it says', 'setup configure first'],
  ['doctor', 'check config, token, keys, clock and disk', 'diagnose problem trouble health check'],
  ['completion', 'print the completion script of a shell', 'bash zsh fish tab'],
  ['schema', 'print the JSON Schemas of results and of the config', 'json format'],
  ['version', 'print the version and what it runs on', 'about release'],
  ['help', 'show the help of a command', 'manual usage'],
];

/** Every command, in the order of the help. */
export const COMMAND_WORDS: readonly CommandWords[] = rows.map(([name, about, words = '']) => ({
  name,
  about,
  words,
}));
