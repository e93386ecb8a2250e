import { EXIT, EXIT_CODES } from '../base/errors.ts';

/** The runbooks in the order in which a person looks for one, each with what it does. */
export const RUNBOOKS: readonly (readonly [id: string, does: string])[] = [
  ['restore-backup', 'restore a backup into its own instance'],
  ['restore-point-in-time', 'restore the instance as it was at a time (--to)'],
  ['disaster-recovery', 'recover a lost instance into another (--target)'],
  ['back-up-and-verify', 'make a backup now and read it to its last byte'],
  ['rotate-key', 'set a new encryption key and prove it by a backup'],
  ['change-instance', 'restart, recreate or update it (--action)'],
];

/** What `run` prints after its flags. */
export const RUN_HELP = `
Runbooks:
${RUNBOOKS.map(([id, does]) => `  ${id.padEnd(23)}${does}`).join('\n')}

Examples:
  lifeboat run restore-backup orders
  lifeboat run restore-backup orders --backup 12 --dry-run
  lifeboat run restore-point-in-time orders --to "10 minutes ago"
  lifeboat run disaster-recovery orders --prepare
  lifeboat run disaster-recovery orders --target orders-dr --perform
  lifeboat run rotate-key orders --yes --confirm orders`;

/** What `keys` prints after its commands. */
export const KEYS_HELP = `
A fingerprint is made with a secret of this key store: another store shows another one for the same key.
To find out whether two people hold the same key, each runs \`lifeboat keys add INSTANCE --check\` and enters it.`;

/** What `lab` prints after its flags. */
export const LAB_HELP = `
While it runs, everything can be turned over HTTP, with the token in the folder that it names:
  GET    /lab                            what runs, and what goes wrong
  GET    /lab/calls                      every change that the service carried out
  POST   /lab/faults                     {"method":"POST","path":"/backups","effect":{"kind":"drop","when":"after"}}
  DELETE /lab/faults                     nothing goes wrong any more
  POST   /lab/scenario                   {"name":"lost-answers"}
  POST   /lab/instances/NAME/disaster    {"lost":true}
  DELETE /lab/instances/NAME             somebody deletes the instance
  POST   /lab/instances/NAME/bindings    {"app":"orders-api"}
  POST   /lab/clock                      {"advance":"30d"}, {"rate":60}, {"skew":"-10m"}
  POST   /lab/settings                   {"router":"30s"}, {"updateBlocking":false}
  POST   /lab/tokens                     {"expire":true}
  GET    /openapi.json                   the service in OpenAPI 3.1`;

/** What `report` prints after its flags. */
export const REPORT_HELP = `
  lifeboat report RUN --format html --out run.html    for an auditor: opens in any browser, prints well
  lifeboat report --compare RUN RUN                   slice by slice, step by step
What only people know (participants, causes, actions, signatures) is left open, to be filled in.`;

/** What `lifeboat --help` prints at its end. */
export const HELP = `
Environment:
  LIFEBOAT_HOME             journal, checkpoints and downloads (default: the XDG state folder)
  LIFEBOAT_CONFIG           lifeboat.yaml to use
  LIFEBOAT_STORE            postgres://… of a team, or sqlite; wins over the config
  LIFEBOAT_KEYCHAIN         os (default) or vault, a file under a passphrase
  LIFEBOAT_PASSPHRASE_FILE  file with the passphrase of the vault
  LIFEBOAT_PGBIN            folder of another PostgreSQL for the lab

Exit codes:
${exitCodes()}

Try it: lifeboat drill`;

/** The codes in two lines. */
function exitCodes(): string {
  const codes = Object.entries(EXIT_CODES).map(
    ([name, { means }]) => `${EXIT[name as keyof typeof EXIT]} ${means}`,
  );
  return [codes.slice(0, 5), codes.slice(5)].map((line) => `  ${line.join(' · ')}`).join('\n');
}
