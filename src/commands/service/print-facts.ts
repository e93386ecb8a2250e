import { counted, utcTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { cells } from '../../plain/width.ts';
import type { BackupsConfig, InstanceOverview } from '../../service/schemas.ts';

/** One line of a description; lines without a value are left out. */
export type FactLine = readonly [label: string, value: string | number | boolean | undefined];

/** Prints facts to stdout, one per line, values in one column. Cleans the values. */
export function printFacts({ stdout }: CommandContext, facts: readonly FactLine[]): void {
  const present = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [[label, String(value)] as const],
  );
  const width = Math.max(0, ...present.map(([label]) => cells(label)));
  for (const [label, value] of present) {
    stdout.write(`${label}:${' '.repeat(width - cells(label) + 1)}${show(value)}\n`);
  }
}

/** The overview of an instance (endpoint 12), one fact per line. Values are untrusted. */
export function overviewFacts(overview: InstanceOverview): readonly FactLine[] {
  return [
    ['name', overview.name],
    ['state', overview.state],
    ['id', overview.id],
    ['service_id', overview.service_id],
    ['plan_id', overview.plan_id],
    ['organization', overview.tenant_name],
    ['space', overview.subtenant_name],
    ['created', utc(overview.created_at)],
    ['updated', utc(overview.updated_at)],
    ...(overview.available_updates ?? []).map((update) => ['update pending', updateLine(update)] as const),
    ...(overview.urls ?? []).map(
      (url) => [url.display_name === undefined ? 'url' : show(url.display_name, 40), url.link] as const,
    ),
  ];
}

/** The backup configuration (endpoint 8), one fact per line. Values are untrusted. */
export function backupConfigFacts(value: BackupsConfig): readonly FactLine[] {
  const { retention_time: days, exclude_from_auto_backup: isExcluded } = value;
  const { min_encryption_key_length: characters } = value;
  return [
    ['backups kept at least', value.min_backup_count],
    ['deleted after', days === undefined ? undefined : counted(days, 'day')],
    ['scheduled backups', isExcluded === undefined ? undefined : !isExcluded],
    ['kind of backup', value.backup_type],
    ['shortest key', characters === undefined ? undefined : counted(characters, 'character')],
  ];
}

/** `2026-11-21 03:04:05 UTC`; undefined if there is no time. */
export function utc(text: string | undefined): string | undefined {
  return text === undefined ? undefined : utcTime(text);
}

type AvailableUpdate = NonNullable<InstanceOverview['available_updates']>[number];

/** A pending update, in one line; untrusted. */
function updateLine({ name, type, version }: AvailableUpdate): string {
  return [name, type, version].filter((part) => part !== undefined).join(' ');
}
