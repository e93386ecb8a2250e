import { Option } from 'commander';
import { instance, TIME } from '../../cli/define.ts';

/** Flags that say what a run is about; which of them a runbook takes, `RUNBOOKS` says. */
export function about(): Option[] {
  return [
    instance(),
    new Option('--target <name>', 'the instance that is recovered into'),
    new Option('--prepare', 'disaster-recovery: only make the recovery card, in peace time'),
    new Option('--perform', 'disaster-recovery: only recover into the target; the instance is not called'),
    new Option(
      '--backup <id>',
      'the backup to restore: its number, or a backup_id to recover it into a target',
    ),
    new Option('--to <time>', TIME),
    new Option('--action <word>', 'change-instance: restart, recreate or update'),
    new Option('--app <name>', 'bind only this application again; again for more').argParser(
      (value: string, all: string[] | undefined) => [...(all ?? []), value],
    ),
    new Option('--incident <time>', 'when the incident began: the recovery time counts from there'),
    new Option('--reason <text>', 'why, for the record'),
  ];
}

/** The flags among them that answer a question, by their names. */
export const ANSWERING = ['yes', 'confirm', 'keyFile', 'guid', 'breakGlass', 'patience'];

/** Flags of commands that drive a run. */
export function driving(): Option[] {
  return [
    new Option('--yes', 'give the recommended answer wherever there is one'),
    new Option(
      '--confirm <name>',
      'the typed name for the destructive step, when no one is there to type it',
    ),
    new Option('--key-file <file>', 'take the new key from this file (- for standard input)'),
    new Option('--guid <guid>', 'the backup_guid or backup_id, where no recovery card is on record'),
    new Option('--token-file <file>', 'read the access token from this file'),
    new Option(
      '--break-glass <reason>',
      'confirm without the approval of a second person; the reason heads the report',
    ),
    new Option('--plain', 'lines instead of the full screen'),
    patience('when no one is there'),
  ];
}

/** How long a wait is waited for beyond its limit. */
export function patience(when: string): Option {
  return new Option(
    '--patience <time>',
    `${when}: leave a wait that is over its limit by so much, with exit code 3; nothing is lost (default: 30m)`,
  );
}

/** Flags of commands that answer for a follow-up to the run it belongs to. */
export function answering(): Option[] {
  return [
    new Option('--token-file <file>', 'read the access token from this file'),
    new Option('--yes', 'let the run go on with the recommended answers'),
  ];
}

/** What a lab is made of and what goes wrong on it. */
export function labOptions(): Option[] {
  return [
    new Option(
      '-i, --instance <name[:kind]>',
      'an instance to make, again for more; kind: standard, archiving, empty',
    ).argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]),
    new Option('--scenario <name>', 'what goes wrong, by name or as a YAML file; `list` shows the names'),
    new Option('--workers <n>', 'tasks that the Backup Manager works on at once (default: 4)'),
    new Option('--backup-every <seconds>', 'make scheduled backups'),
    new Option('--router <time>', "when the platform's router ends a request: 30s, 15m (default: 15m)"),
    new Option('--no-update-blocking', 'revision 61 without the endpoint that forbids maintenance updates'),
    new Option('--no-platform', 'without an application platform and its applications'),
    new Option('--no-sso', 'serve V0 pages without the redirect that sets their session cookie'),
  ];
}
