import { Option } from 'commander';
import { instance, TIME } from '../../cli/define.ts';

/** Flags that describe a run; `RUNBOOKS` says which of them a runbook takes. */
export function about(): Option[] {
  return [
    instance(),
    new Option('--target <name>', 'disaster-recovery: the instance to recover into'),
    new Option('--prepare', 'disaster-recovery: only make the recovery card'),
    new Option('--perform', 'disaster-recovery: only recover; never call the source'),
    new Option('--backup <id>', 'the backup (disaster-recovery: its backup_id)'),
    new Option('--to <time>', TIME),
    new Option('--action <word>', 'change-instance: restart, recreate or update').choices([
      'restart',
      'recreate',
      'update',
    ]),
    new Option('--app <name>', 'bind only this application again (repeatable)').argParser(repeated),
    new Option('--incident <time>', 'when the incident began: recovery time starts there'),
    new Option('--reason <text>', 'why, for the record'),
  ];
}

/** The names of those flags that answer a question. */
export const ANSWERING = ['yes', 'confirm', 'keyFile', 'guid', 'breakGlass', 'patience'];

/** The names of the flags that only the process which drives a run can follow. */
export const BY_HAND = ['dryRun', 'keyFile', 'guid', 'tokenFile', 'breakGlass', 'plain', 'patience'];

export function driving(): Option[] {
  return [
    new Option('--yes', 'take the recommended answer where there is one'),
    new Option('--confirm <name>', 'the name to type before a destructive step; once'),
    new Option('--key-file <file>', 'take the new key from this file (- for stdin)'),
    new Option('--guid <guid>', 'the backup_guid, where no recovery card is known'),
    tokenFile(),
    new Option('--break-glass <reason>', 'confirm without a second person; on record'),
    new Option('--plain', 'lines instead of the full screen'),
    patience(),
  ];
}

/** Where the access token comes from, instead of from the config. */
export function tokenFile(): Option {
  return new Option('--token-file <file>', 'read the access token from this file');
}

export function patience(): Option {
  return new Option('--patience <time>', 'leave a wait this long after its limit (default: 30m)');
}

export function answering(): Option[] {
  return [tokenFile(), new Option('--yes', 'go on with the recommended answers')];
}

export function labOptions(): Option[] {
  return [
    new Option('-i, --instance <name[:kind]>', 'an instance to make (repeatable), see below').argParser(
      repeated,
    ),
    new Option('--scenario <name>', 'what goes wrong: a name, a YAML file, or `list`'),
    new Option('--workers <n>', 'tasks that are worked on at once (default: 4)'),
    new Option('--backup-every <seconds>', 'create scheduled backups'),
    new Option('--router <time>', 'when the router ends a request (default: 15m)'),
    new Option('--no-update-blocking', 'revision 61 without `instance settings`'),
    new Option('--downloads <rule>', 'backups that are offered')
      .choices(['present-key', 'own-key'])
      .default('present-key'),
    new Option('--no-platform', 'without applications and their platform'),
    new Option('--no-sso', 'V0 without the redirect that sets its cookie'),
  ];
}

export function revision(): Option {
  return new Option('--revision <n>', 'revision of the service: 61 or 62')
    .choices(['61', '62'])
    .default('62');
}

/** Collects a flag that may be given several times. */
export function repeated(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}
