import { existsSync } from 'node:fs';
import { VERDICT_EXIT } from '../../audit/verdict.ts';
import { isoOf } from '../../base/date.ts';
import { failureOf } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { ownFile } from '../../base/own-program.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { isTaken } from '../../cli/write-new-file.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import { openJournalIfAny, openReaderOf } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { dutiesOf } from '../../evidence/duties.ts';
import { evidenceHtml, evidenceJson } from '../../evidence/evidence-pages.ts';
import type { Evidence, Gap } from '../../evidence/evidence-schema.ts';
import { gapsOf } from '../../evidence/gaps.ts';
import type { LedgerFacts } from '../../evidence/ledger-facts.ts';
import { daysOf, periodOf, type Span } from '../../evidence/period.ts';
import { readmeOf } from '../../evidence/readme.ts';
import type { Brand } from '../../report/brand.ts';
import type { DrillRecord } from '../../report/drill/drill-report.ts';
import { type JournalReader, LOG_STREAM } from '../../store/journal.ts';
import type { Signer } from '../../store/log/signer.ts';
import { createSecretGuard, type SecretGuard } from '../../store/secret-guard.ts';
import { bundlerOf } from '../audit/run-bundles.ts';
import { guardSecrets, signerOf, signingKeys } from '../audit/signing.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { brandOf } from '../run/run-report.ts';
import { openPack, type Pack } from './pack.ts';
import { drillsIn, packDrills } from './packed-drills.ts';
import { packRuns } from './packed-runs.ts';
import { askedPlans, readLedgerFacts, readOpened, readRecoveries } from './read-done.ts';
import { type PackedRun, pastDamage, readPlaces, readRecord, readRuns, receiptsByRun } from './record.ts';
import { type Scope, scopeOf } from './scope.ts';

interface EvidenceFlags {
  readonly from?: string;
  readonly to?: string;
  readonly instance?: readonly string[];
  readonly plan?: readonly string[];
  readonly out?: string;
  readonly receipts?: boolean;
}

/**
 * `lifeboat evidence [--from DAY] [--to DAY] [-i NAME]... [--plan NAME]...`: one new folder or tar for an
 * auditor, with the drills, runs, evaluations, findings and waivers of a period, signed bundles, and what is
 * missing against the periods of the config. Sends nothing. Exit code as that of `lifeboat audit verify`: 0
 * for an intact record, 3 for one that is not pinned as a whole, 1 for one that is not intact, which heads
 * the pack and gets no bundles; 2, with nothing written, for a period or a place that cannot be. A process
 * that dies inside leaves nothing under the name of the pack.
 */
export const evidence: Action<EvidenceFlags> = async (context, _, flags) => {
  const now = new Date();
  const span = periodOf(flags, now);
  const { first, last } = daysOf(span);
  const out = flags.out ?? `lifeboat-evidence-${first}-${last}`;
  if (existsSync(out)) throw isTaken(out);
  const config = await configIfAny(context);
  const drills = knownDrills(context.env);
  const journal = drills.length === 0 ? await openReaderOf(context) : await openJournalIfAny(context);
  try {
    const scope = await scopeOf(config, journal, flags);
    const guard = createSecretGuard();
    const keyring = journal === undefined ? undefined : await signingKeys(context, 'the pack is');
    await guardSecrets(guard, context, config, keyring);
    const signer = await signerOf(keyring);
    const pack = openPack(out, guard);
    try {
      const brand = await brandOf(context);
      const source = { context, config, journal, scope, span, now, guard, signer, brand, drills };
      const index = await filled(pack, { ...source, makesReceipts: flags.receipts === true });
      return await finished(context, { pack, out, index, span, signer, brand });
    } finally {
      pack.drop();
    }
  } finally {
    await journal?.close();
  }
};

interface Source {
  readonly context: CommandContext;
  readonly config: LoadedConfig | undefined;
  readonly journal: JournalReader | undefined;
  readonly scope: Scope;
  readonly span: Span;
  readonly now: Date;
  readonly guard: SecretGuard;
  readonly signer: Signer;
  readonly brand: Brand;
  /** Those of this home, whenever they were. */
  readonly drills: readonly DrillRecord[];
  readonly makesReceipts: boolean;
}

/** Without a config, the journal names the instances, and no period is asked for. */
async function configIfAny(context: CommandContext): Promise<LoadedConfig | undefined> {
  return await loadConfig(context.env, context.configPath).catch((thrown: unknown) => {
    if (failureOf(thrown).code === 'config.missing') return undefined;
    throw thrown;
  });
}

/** Packs runs and drills, and gives the index. */
async function filled(pack: Pack, source: Source): Promise<Evidence> {
  const { context, config, journal, scope, span, now, guard, signer, brand, drills } = source;
  const { makesReceipts } = source;
  const record = journal === undefined ? NO_RECORD : await readRecord(context);
  const unread: string[] = [];
  const limit = (text: string) => void (unread.includes(text) || unread.push(text));
  const reader = journal && pastDamage(journal, limit);
  const aboutLog = (await reader?.read(LOG_STREAM)) ?? [];
  const begun = aboutLog[0]?.at;
  const isIntact = journal !== undefined && record.verdict !== 'not-intact';
  const receipts = receiptsByRun(aboutLog);
  const ground = { context, pack, brand, receipts, limit };
  const sealed = async (of: CommandContext, read: JournalReader) =>
    bundlerOf(of, read, { signer, guard, anchors: [], places: await readPlaces(of, read) }).tar;
  const all = journal === undefined ? [] : await readRuns(journal);
  const inSpan = scope.of(all).filter((run) => isUnderWay(run, span));
  const own =
    journal === undefined
      ? []
      : await packRuns(
          {
            ...{ ...ground, journal, makesReceipts: makesReceipts && isIntact },
            bundle: isIntact ? await sealed(context, journal) : undefined,
          },
          inSpan,
        );
  const drilled = await packDrills(
    { ...ground, makesReceipts, bundlerOf: sealed, every: config?.drills?.every },
    drillsIn(drills, span),
    drills,
  );
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
  return {
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

/** What is missing up to now, oldest first. Where nothing at all is on record, only that is said. */
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

/** What a pack of this record cannot show whatever it packs, as sentences. */
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

interface Whole {
  readonly pack: Pack;
  readonly out: string;
  readonly index: Evidence;
  readonly span: Span;
  readonly signer: Signer;
  readonly brand: Brand;
}

async function finished(context: CommandContext, whole: Whole): Promise<number> {
  const { pack, out, index, span, signer, brand } = whole;
  const { runs, drills, missing, record } = index;
  pack.put('index.html', evidenceHtml(index, brand));
  pack.put('index.json', evidenceJson(index));
  pack.put('README.txt', readmeOf(span, { hasReceipts: runs.some(({ receipt }) => receipt !== undefined) }));
  pack.put('verify.mjs', ownFile('src/audit/bundle/verify.mjs'));
  pack.put('lifeboat.pub', signer.publicKey);
  const size = pack.finish();
  const isBroken = drills.some(({ verdict }) => verdict === 'not-intact');
  const verdict = isBroken ? 'not-intact' : record.verdict;
  const uncovered = missing.filter(({ waiver }) => waiver?.covers !== 'all').length;
  const counts = { runs: runs.length, drills: drills.length, missing: uncovered };
  await printResult(context, 'evidence-pack', { path: out, verdict, ...counts, ...size }, () => {
    context.stdout.write(`${show(out, 300)}\n`);
    context.stderr.write(
      `${counted(counts.runs, 'run')}, ${counted(counts.drills, 'drill')}, ` +
        `${counted(uncovered, 'gap')} without a waiver; record: ${show(record.words, 300)}\n`,
    );
  });
  return VERDICT_EXIT[verdict];
}
