import { isoOf } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import type { CommandContext } from '../../cli/context.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { dutiesOf } from '../../evidence/duties.ts';
import type { Evidence, Gap } from '../../evidence/evidence-schema.ts';
import { gapsOf } from '../../evidence/gaps.ts';
import type { LedgerFacts } from '../../evidence/ledger-facts.ts';
import type { Span } from '../../evidence/period.ts';
import type { Brand } from '../../report/brand.ts';
import type { DrillRecord } from '../../report/drill/drill-report.ts';
import { type JournalReader, LOG_STREAM } from '../../store/journal.ts';
import type { Signer } from '../../store/log/signer.ts';
import type { Pack } from './pack.ts';
import { drillsIn, packDrills } from './packed-drills.ts';
import { receiptSignerOf } from './packed-receipts.ts';
import { type Ground, type PackedRecord, packRecord } from './packed-record.ts';
import { askedPlans, readLedgerFacts, readOpened, readRecoveries } from './read-done.ts';
import { type PackedRun, pastDamage, readRecord, readRuns, receiptsByRun } from './record.ts';
import type { Scope } from './scope.ts';

export interface Source {
  readonly pack: Pack;
  readonly context: CommandContext;
  readonly config: LoadedConfig | undefined;
  readonly journal: JournalReader | undefined;
  readonly scope: Scope;
  readonly span: Span;
  readonly now: Date;
  readonly signer: Signer;
  readonly brand: Brand;
  /** Those of this home, whenever they were. */
  readonly drills: readonly DrillRecord[];
  readonly makesReceipts: boolean;
}

/** The index of a pack, and what signs the list of its files; nothing signs a damaged record. */
export interface Gathered {
  readonly index: Evidence;
  readonly sign: PackedRecord['sign'];
}

/** Packs drills and runs, and gives the index. Receipts that are asked for are put on record. */
export async function gatherEvidence(source: Source): Promise<Gathered> {
  const { context, config, journal, scope, span, now, drills } = source;
  const record = journal === undefined ? NO_RECORD : await readRecord(context);
  const unread: string[] = [];
  const limit = (text: string) => void (unread.includes(text) || unread.push(text));
  const reader = journal && pastDamage(journal, limit);
  const aboutLog = (await reader?.read(LOG_STREAM)) ?? [];
  const begun = aboutLog[0]?.at;
  const all = journal === undefined ? [] : await readRuns(journal);
  const runs = scope.of(all).filter((run) => isUnderWay(run, span));
  const ground = { ...source, receipts: receiptsByRun(aboutLog), limit };
  const { own, drilled, sign } = await packed(ground, record, runs);
  const facts = await readLedgerFacts(reader, [...scope.instances, ...scope.planSubjects], span, {
    ...{ config, last: lastEvaluated(context.env) },
  });
  const proven = drills.filter(({ outcome }) => outcome === 'proven');
  const missing = await missingOf(source, {
    ...{ reader, all, facts, begun },
    drilledAt: proven.map(({ begunAt, endedAt }) => msOf(endedAt ?? begunAt)),
  });
  const rows = [...own, ...drilled.runs].toSorted(
    (one, other) => msOf(one.startedAt) - msOf(other.startedAt),
  );
  const inScope = new Set(scope.instances);
  const index: Evidence = {
    schema: 'lifeboat.evidence/1',
    ...{ generatedAt: now.toISOString(), madeBy: `lifeboat ${context.version}` },
    period: {
      ...{ from: isoOf(span.from), to: isoOf(span.until) },
      knownUntil: isoOf(Math.min(span.until, now.getTime())),
    },
    ...(scope.asked === undefined ? {} : { scope: scope.asked }),
    record: begun === undefined ? record : { ...record, begunAt: begun },
    subjects: [...facts].map(([subject, { standing }]) => ({
      ...{ subject, isConfigured: isConfigured(source, subject), ...standing },
      runs: own.filter(({ instance, target }) => instance === subject || target === subject).length,
      gaps: missing.filter((gap) => gap.subject === subject && gap.waiver?.covers !== 'all').length,
    })),
    ...{
      missing,
      drills: drilled.drills,
      runs: rows,
      limits: [...limitsOf(source, record, begun), ...unread],
    },
    evaluations: [...facts.values()]
      .flatMap(({ evaluations }) => evaluations)
      .toSorted((one, other) => msOf(one.at) - msOf(other.at)),
    findings: [...facts.values()].flatMap(({ findings }) => findings),
    waivers: (config?.waivers ?? []).filter(({ instance }) => inScope.has(instance)),
  };
  return { index, sign };
}

interface PackGround extends Source, Pick<Ground, 'receipts' | 'limit'> {}

/** The drills, and then the record of this home, which may have the receipts of their runs. */
async function packed(ground: PackGround, record: Evidence['record'], runs: readonly PackedRun[]) {
  const { context, config, journal, scope, span, pack, drills, limit } = ground;
  const wants = ground.makesReceipts && record.verdict !== 'not-intact';
  const receiptSigner = wants ? await receiptSignerOf(context, limit) : undefined;
  try {
    const every = config?.drills?.every;
    const drilled = await packDrills({ ...ground, receiptSigner, every }, drillsIn(drills, span), drills);
    if (journal === undefined) return { own: [], drilled, sign: undefined };
    const own: Ground = { ...ground, journal, record, receiptSigner, part: pack, at: '' };
    const { rows, sign } = await packRecord(own, runs, [...scope.instances, ...scope.planSubjects]);
    return { own: rows, drilled, sign };
  } finally {
    await receiptSigner?.close();
  }
}

const NO_RECORD: Evidence['record'] = {
  ...{ verdict: 'consistent', words: 'this home has no journal, only drills', entries: 0, problems: [] },
};

function isUnderWay({ startedAt, lastAt, status }: PackedRun, span: Span): boolean {
  return msOf(startedAt) < span.until && (status === 'open' || !(msOf(lastAt) < span.from));
}

function isConfigured({ config, scope }: Source, subject: string): boolean {
  return scope.instances.includes(subject)
    ? Object.hasOwn(config?.instances ?? {}, subject)
    : scope.plans.some(({ name }) => subject.endsWith(`.${name}`));
}

interface Found {
  readonly reader: Pick<JournalReader, 'read'> | undefined;
  readonly all: readonly PackedRun[];
  readonly facts: ReadonlyMap<string, LedgerFacts>;
  readonly begun: string | undefined;
  readonly drilledAt: readonly number[];
}

/** Up to now, oldest first. If nothing at all is on record, only that. */
async function missingOf(
  { config, scope, span, now }: Source,
  { reader, all, facts, begun, drilledAt }: Found,
): Promise<readonly Gap[]> {
  const until = Math.min(span.until, now.getTime());
  const begunMs = Math.min(until, begun === undefined ? until : msOf(begun));
  const nothing: Gap[] =
    begunMs <= span.from
      ? []
      : [
          {
            ...{
              what: 'record',
              subject: '',
              asked: 'a journal',
              from: isoOf(span.from),
              to: isoOf(begunMs),
            },
            ...{ isOpen: begunMs === until, isCertain: true },
          },
        ];
  if (config === undefined) return nothing;
  const duties = dutiesOf(config, scope.instances, askedPlans(scope.plans, facts, all), {
    ...{ ledgers: facts, drilledAt },
    recoveredAt: await readRecoveries(reader, all),
    openedAt: await readOpened(reader),
  });
  const gaps = duties.flatMap((duty) => {
    // The record of a drill is beside the journal.
    const from = duty.what === 'drill' ? span.from : Math.max(span.from, begunMs);
    return from >= until ? [] : gapsOf(duty, { from, until }, config.waivers);
  });
  return [...nothing, ...gaps].toSorted((one, other) => msOf(one.from) - msOf(other.from));
}

/** Limits of any pack of this record, as sentences. */
function limitsOf(
  { config, scope, makesReceipts }: Source,
  { verdict }: Evidence['record'],
  begun: string | undefined,
): readonly string[] {
  const unread = scope.plans.flatMap(({ name, found }) => ('problem' in found ? [name] : []));
  return [
    ...(config === undefined ? ['There is no lifeboat.yaml, so no period is asked for.'] : []),
    ...(verdict === 'not-intact' ? ['The record is not intact: nothing of it is signed.'] : []),
    ...(begun === undefined
      ? []
      : ['Periods, instances and waivers are those of lifeboat.yaml as it is now.']),
    ...(config?.drills?.every === undefined
      ? ['`drills.every` is not set: no drill and no rehearsal is asked for.']
      : ['A drill whose folder was removed is not known any more.']),
    ...(config?.evaluate === undefined
      ? ['`evaluate.every` is not set: no evaluation of instances is asked for.']
      : []),
    ...unread.map((name) => `Plan ${name} cannot be read: its periods are not known.`),
    ...(makesReceipts ? [] : ['No receipt was made: `--receipts` makes one for each run that has none.']),
  ];
}
