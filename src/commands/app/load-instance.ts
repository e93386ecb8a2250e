import { isoOf } from '../../base/date.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { formatSeconds, formatSpan, formatTime } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import { TooSlow, within } from '../../base/patience.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { recallBackups } from '../../compose/last-seen.ts';
import { openInstance } from '../../compose/service-of.ts';
import { openJournalIfAny, unheard } from '../../compose/store-of.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { Operation } from '../../service/revisions.ts';
import { unreadWords } from '../../service/rows.ts';
import type { PitrRange, Restore } from '../../service/schemas.ts';
import { foldLedger, type Ledger, readLedger } from '../../store/projections/ledgers.ts';
import { type BackupList, backupRows, type Listed } from '../../view/app/backup-list.ts';
import type { InstanceDetail, InstanceMetrics, RestoreRow } from '../../view/app/sources.ts';
import type { Part } from '../../view/fleet/fleet-facts.ts';
import { backupConfigFacts, type FactLine, overviewFacts } from '../service/print-facts.ts';
import { keptKeyring } from './load-keys.ts';

const LIMIT_MS = 20_000;
/** Enough for a chart of each path of a cluster. */
const POINTS = 5_000;

type Rows = readonly (readonly [label: string, value: string])[];

const UNASKED = { state: 'unasked' } as const;

/** Describes an instance by GETs alone: first from the config, then each answer as it arrives. */
export async function loadInstance(
  context: CommandContext,
  config: LoadedConfig,
  name: string,
  emit: (detail: InstanceDetail) => void,
  signal: AbortSignal,
): Promise<void> {
  const parts = {
    overview: UNASKED as Part<Rows>,
    config: UNASKED as Part<Rows>,
    range: UNASKED as Part<Rows>,
    metrics: UNASKED as Part<InstanceMetrics>,
    restores: UNASKED as Part<readonly RestoreRow[]>,
  };
  const objectives = objectivesOf(config, name);
  let unreadRestores: readonly string[] = [];
  const tell = () => {
    if (signal.aborted) return;
    const { overview, config: backups, range, metrics, restores } = parts;
    emit({
      name,
      groups: [
        { title: 'overview', rows: overview },
        { title: 'objectives', rows: objectives },
        { title: 'backup configuration', rows: backups },
        { title: 'point in time', rows: range },
      ],
      metrics,
      restores,
      unreadRestores,
    });
  };
  tell();
  await using instance = await openInstance(config, name, {
    store: async () => (await keptKeyring(context)).store,
  });
  const { service } = instance;
  const ask = async <Key extends keyof typeof parts>(
    key: Key,
    operation: Operation,
    act: () => Promise<(typeof parts)[Key] extends Part<infer Value> ? Value : never>,
  ) => {
    const part = service.supports(operation) ? await partOf(act) : ({ state: 'missing' } as const);
    parts[key] = part as (typeof parts)[Key];
    tell();
  };
  await Promise.all([
    ask('overview', 'overview', async () => printable(overviewFacts((await service.overview(signal)).value))),
    ask('config', 'backupsConfig', async () =>
      printable(backupConfigFacts((await service.backupsConfig(signal)).value)),
    ),
    ask('range', 'pitrRange', () => rangeOf(service, signal)),
    ask('metrics', 'metrics', () => metricsOf(service, signal)),
    ask('restores', 'restores', async () => {
      const { value, unread } = await service.restores(signal);
      unreadRestores = unreadWords('restore', unread);
      return restoresOf(value);
    }),
  ]);
}

function objectivesOf(config: LoadedConfig, name: string): Part<Rows> {
  const { role, objectives, revision, url } = instanceNamed(config, name);
  const limit = (ms: number | undefined) =>
    ms === undefined ? 'none in the config' : formatSeconds(ms / 1000);
  const value: Rows = [
    ['RTO', limit(objectives.rto)],
    ['RPO', limit(objectives.rpo)],
    ['role', role],
    ['revision', String(revision)],
    ['place', show(new URL(url).host)],
  ];
  return { state: 'known', at: new Date(), value };
}

function printable(facts: readonly FactLine[]): Rows {
  return facts.flatMap(([label, value]) =>
    value === undefined
      ? []
      : [[show(label), show(typeof value === 'boolean' ? yesOrNo(value) : String(value))] as const],
  );
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

async function rangeOf(service: ServiceClient, signal: AbortSignal): Promise<Rows> {
  let range: PitrRange;
  try {
    range = (await service.pitrRange(signal)).value;
  } catch (thrown) {
    // service-api.md section 4.1 rule 4: no continuous archiving.
    if (thrown instanceof LifeboatError && thrown.code === 'service.not-found')
      return [['range', 'none: the instance has no continuous archiving']];
    throw thrown;
  }
  const [start, end] = [instantOf(range.start_time), instantOf(range.end_time)];
  if (start === undefined || end === undefined || start > end)
    throw new LifeboatError('pitr.bad-range', 'the range that the service reports is not valid');
  return [
    ['oldest point', `${formatTime(isoOf(start))} UTC`],
    ['newest point', `${formatTime(isoOf(end))} UTC`],
    ['reaches over', formatSpan((end - start) / 1000)],
  ];
}

async function metricsOf(service: ServiceClient, signal: AbortSignal): Promise<InstanceMetrics> {
  const { seriesOf } = await import('../../service/metrics.ts');
  const { parachuteDisks } = await import('../../service/metrics.ts');
  const { diskLine } = await import('../service/metrics.ts');
  const { value } = await service.metrics({ quantity: POINTS, signal });
  return {
    disks: parachuteDisks(value).map((disk) => ({ text: diskLine(disk), isOpen: disk.activated === true })),
    series: seriesOf(value).map(({ path, points }) => ({
      path: show(path),
      values: points.map((point) => point.value),
      at: isoOf(points.at(-1)?.atMs ?? 0),
    })),
  };
}

function restoresOf(restores: readonly Restore[]): readonly RestoreRow[] {
  return restores
    .map(
      ({ id, backup_id, status, metadata, triggered_at, finished_at }): RestoreRow => ({
        id,
        backupId: backup_id,
        status: show(status, 40),
        restoredFrom: shown(metadata?.restored_from),
        triggeredAt: shown(triggered_at),
        finishedAt: shown(finished_at),
      }),
    )
    .toSorted((one, other) => other.id - one.id);
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : show(text, 60);
}

async function partOf<Value>(act: () => Promise<Value>): Promise<Part<Value>> {
  try {
    const value = await within(LIMIT_MS, act);
    return { state: 'known', at: new Date(), value };
  } catch (thrown) {
    if (thrown instanceof TooSlow)
      return { state: 'failed', at: new Date(), code: 'answer.late', why: thrown.message };
    const { code, shortMessage, hints } = failureOf(thrown);
    return { state: 'failed', at: new Date(), code, why: show(shortMessage), hints };
  }
}

/**
 * All backups of an instance, with what the journal and the key store know of each. If the service does not
 * answer, those that the journal knows or that the service listed last, and the reason.
 */
export async function loadBackups(
  context: CommandContext,
  config: LoadedConfig,
  name: string,
  signal: AbortSignal,
): Promise<BackupList> {
  const keyring = () => keptKeyring(context);
  const ledger = await ledgerOf(context, name);
  const held = await heldOf(ledger, name, keyring);
  const asked = await ask(config, name, keyring, signal);
  const { listed, skewMs = 0, ...rest } = asked;
  const seen = listed === undefined ? (await recallBackups(context, config)(name))?.backups : undefined;
  return { ...rest, rows: backupRows({ listed, seen, ledger, held, skewMs, now: new Date() }) };
}

async function ledgerOf(context: CommandContext, name: string): Promise<Ledger> {
  const journal = await openJournalIfAny(unheard(context));
  if (journal === undefined) return foldLedger([]);
  try {
    return await readLedger(journal, name);
  } finally {
    await journal.close();
  }
}

/** Never asks for a passphrase if no key is known; a store that fails to open does not block the list. */
async function heldOf(
  { epochs }: Ledger,
  name: string,
  keyring: () => Promise<Keyring>,
): Promise<readonly string[] | undefined> {
  if (epochs.length === 0) return undefined;
  return keyring().then(
    (store) => store.list(name),
    () => undefined,
  );
}

type Asked = Pick<BackupList, 'window' | 'noWindow' | 'problem' | 'unread'> & {
  readonly listed: readonly Listed[] | undefined;
  readonly skewMs?: number | undefined;
};

async function ask(
  config: LoadedConfig,
  name: string,
  keyring: () => Promise<Keyring>,
  signal: AbortSignal,
): Promise<Asked> {
  try {
    await using instance = await openInstance(config, name, {
      store: async () => (await keyring()).store,
    });
    const { service } = instance;
    const [{ value, skew, unread }, window] = await Promise.all([
      service.backups(signal),
      windowOf(name, service, signal),
    ]);
    const listed = value.map(
      ({ id, backup_id, status, size, triggered_at, started_at, finished_at }): Listed => ({
        id,
        backupId: backup_id,
        status,
        size,
        triggeredAt: triggered_at ?? started_at ?? finished_at,
      }),
    );
    return { listed, skewMs: skew?.skewMs, unread: unreadWords('backup', unread), ...window };
  } catch (thrown) {
    const problem = show(failureOf(thrown).shortMessage);
    return { listed: undefined, problem, noWindow: problem };
  }
}

async function windowOf(
  name: string,
  service: ServiceClient,
  signal: AbortSignal,
): Promise<Pick<BackupList, 'window' | 'noWindow'>> {
  const { pitrRange } = await import('../../activities/pitr-range.ts');
  const now = () => new Date();
  // The same look as in a run, so that a run accepts every moment that can be chosen here.
  const read = await pitrRange({ service }).run(
    {},
    { runId: 'look', instance: name, signal, now, report: () => undefined },
  );
  if (!read.ok) return { noWindow: show(read.failure.shortMessage) };
  const { earliest, latest } = read.output;
  return { window: { earliest, latest } };
}
