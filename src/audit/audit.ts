import { EXIT, LifeboatError } from '../base/errors.ts';
import { counted } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Log, LoggedEntry } from '../store/journal.ts';
import { type Anchor, anchorOf } from '../store/log/anchor.ts';
import { claimOf } from '../store/log/checkpoint.ts';
import type { Loss } from '../store/log/log-entries.ts';
import {
  type AuditedLog,
  type AuditedPlace,
  type AuditedSignatures,
  auditSignatures,
  readPlaces,
  sizesIn,
} from './audit-places.ts';
import { type TranscriptOf, transcriptWatch } from './audit-transcript.ts';
import type { GivenKeys } from './believed-keys.ts';
import { createFindings, type Finding, type Findings, type Pin, type Verdict, verdictOf } from './verdict.ts';
import { createWalk, type Walk } from './walk.ts';

export interface AuditOptions extends GivenKeys {
  /** Undefined if there is no store, or it cannot be opened. */
  readonly log: Log | undefined;
  /** Losses that a person accepted, by the log: the other entries are compared around them. */
  readonly losses?: readonly Loss[];
  /** The places of checkpoints, the home first. */
  readonly places: readonly AuditedPlace[];
  /** Anchors kept elsewhere: the log must still begin as they say. */
  readonly anchors?: readonly Anchor[];
  readonly transcriptOf: TranscriptOf;
  /** The stream whose leaves are reported. */
  readonly stream?: string | undefined;
  /** Called with every entry of runs and ledgers, for checks that need other tools. */
  readonly onEntry?: (entry: LoggedEntry) => void;
}

export interface AuditReport {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** The newest checkpoint of each place that pins the log. */
  readonly pins: readonly Pin[];
  readonly entries: number;
  readonly streams: number;
  /** The present log as an anchor; undefined for an empty one. */
  readonly anchor?: string;
  /** The leaves of the requested stream, as ranges. */
  readonly run?: { readonly stream: string; readonly leaves: Walk['leaves'] };
  readonly log: AuditedLog;
}

/**
 * Reads a whole store once and recomputes everything: entries, tree, times, head, checkpoints of all places,
 * transcripts. Changes nothing and works while runs are live. Any content gives findings, no rejection.
 */
export async function auditVerify(options: AuditOptions): Promise<AuditReport> {
  const { log, anchors = [], losses = [], transcriptOf, isShared = false, stream, onEntry } = options;
  const findings = createFindings();
  // A live run continues during the audit: read the demands before the checkpoints, these before the entries.
  const before = await answered(async () => log?.head(), findings);
  const vouched = (await answered(async () => log?.vouched(), findings)) ?? 0;
  const origin = (await log?.origin().catch(() => undefined)) ?? claimOf(before?.note)?.origin;
  const places = await readPlaces(options.places, origin, findings);

  const transcripts = transcriptWatch(transcriptOf, isShared, findings);
  const walk = createWalk(
    {
      sizes: new Set([...sizesIn(places), ...anchors.map(({ size }) => size)]),
      demandedBelow: before?.size ?? 0,
      gaps: losses.flatMap(({ gaps }) => gaps),
      stream,
      onEntry(entry) {
        transcripts.take(entry);
        onEntry?.(entry);
      },
    },
    findings,
  );
  const checking = answered(async () => log?.check(), findings);
  const head = log && (await walkAll(log, walk, findings));
  for (const damage of (await checking) ?? []) findings.problem('store.damaged', damage);
  for (const { stream, seq } of (await answered(async () => log?.leftOver?.(), findings)) ?? []) {
    const what = `entry ${seq} of ${show(stream, 120)} is signed by who wrote it, and is no part of the log`;
    findings.limit('entry.left', `${what}: its process died, or the database did not keep its word`);
  }
  walk.finish();
  transcripts.finish();
  const signatures = auditSignatures({ walk, origin, head, places, keys: options, vouched }, findings);
  const { isPinned, pins } = signatures;
  auditAnchors(anchors, walk, origin, findings);
  const home = places.find(({ isHome }) => isHome)?.name;
  const why = 'a rollback of this whole home cannot be ruled out: pass --anchor or add a checkpoint folder';
  if (isPinned && anchors.length === 0 && pins.every(({ place }) => place === home))
    findings.note('home.only', why);
  return reportOf(findings.list(), signatures, walk, stream);
}

function reportOf(
  findings: readonly Finding[],
  { pins, log }: AuditedSignatures,
  walk: Walk,
  stream: string | undefined,
): AuditReport {
  const [size, root] = [walk.size(), walk.root()];
  const { origin } = log;
  return {
    // An empty log does not mean that nothing was found.
    verdict: size === 0 ? 'not-intact' : verdictOf(findings),
    findings,
    pins,
    entries: size - walk.lost(),
    streams: walk.streams(),
    ...(origin === undefined || root === undefined || size === 0
      ? {}
      : { anchor: anchorOf({ origin, size, root }) }),
    ...(stream === undefined ? {} : { run: { stream, leaves: walk.leaves } }),
    log,
  };
}

/** Reads up to the newest head, including entries that a live run appends, and returns its note. */
async function walkAll(log: Log, walk: Walk, findings: Findings): Promise<string | undefined> {
  const take = async (upTo: number) => {
    for await (const entry of log.stored(walk.next())) {
      walk.take(entry);
      if (walk.size() >= upTo) break;
    }
    return true;
  };
  await answered(() => take(Number.POSITIVE_INFINITY), findings);
  const head = await answered(async () => log?.head(), findings);
  if (head !== undefined && head.size > walk.size()) await answered(() => take(head.size), findings);
  return head?.note;
}

function auditAnchors(
  anchors: readonly Anchor[],
  walk: Walk,
  origin: string | undefined,
  findings: Findings,
): void {
  for (const anchor of anchors) {
    const { size } = anchor;
    const here = walk.roots.get(size);
    const entries = counted(size, 'entry', 'entries');
    const covers = `the anchor covers ${entries}`;
    if (anchor.origin !== origin) {
      const other = show(origin ?? 'no log', 40);
      findings.problem('anchor.other', `the anchor is of ${anchor.origin}, and this is ${other}`);
    } else if (here === undefined) {
      const fewer = `${covers}, and ${walk.size()} are here`;
      findings.problem('anchor.missing', `${fewer}: the log was cut or rolled back`);
    } else if (here.root === undefined)
      findings.limit('anchor.lost', `${covers}, and an accepted loss makes a comparison impossible`);
    else if (!here.root.startsWith(anchor.root)) {
      const other = `the first ${entries} are not those of the anchor`;
      findings.problem('anchor.rewritten', `${other}: the log was rewritten`);
    } else findings.note('anchor.holds', `the anchor matches: the first ${entries} are those that it covers`);
  }
}

/** Errors of the connection to a store, which say nothing about its content. */
const UNREAD: ReadonlySet<string> = new Set(['journal.pooled', 'journal.refused', 'journal.unreachable']);

/** Whether the store could not be read at all. */
export function cannotRead({ code }: LifeboatError): boolean {
  return UNREAD.has(code);
}

/** An audit that could not read the store gives no verdict. */
export function noVerdict({ shortMessage, hints, evidence }: LifeboatError): LifeboatError {
  return new LifeboatError('audit.no-verdict', `there is no verdict: ${shortMessage}`, {
    hints: ['nothing is said of the store: it was not read', ...hints],
    evidence,
    exitCode: EXIT.usage,
  });
}

/** The store's answer; undefined, with a finding, if it fails. */
async function answered<T>(ask: () => Promise<T>, findings: Findings): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    if (thrown instanceof LifeboatError && cannotRead(thrown)) throw noVerdict(thrown);
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    findings.problem('store.unreadable', `the store cannot be read: ${why}`);
    return undefined;
  }
}
