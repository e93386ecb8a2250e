import { counted } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import type { InstanceVerdict } from '../../../plans/evaluation-schema.ts';
import type { BoardSort } from '../../../view/app/fleet-row.ts';
import type { Fact, Fleet, RunRow, Trouble } from '../../../view/app/sources.ts';
import { type FleetCounts, fleetCounts, VERDICT_WORDS } from '../../../view/app/status-cells.ts';
import type { WorkersStatus } from '../../../view/fleet/workers-schema.ts';
import { countOf, workersLines, workerWords } from '../../../view/fleet/workers-words.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import { cutLine, lineWidth, wrapLine } from '../../line.ts';
import { type Line, type Look, type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

export interface Top {
  readonly fleet: Fact<Fleet>;
  readonly runs: Fact<readonly RunRow[]>;
  readonly workers: Fact<WorkersStatus | undefined>;
  readonly open: readonly RunRow[];
  readonly sort: BoardSort;
  readonly marked: number;
  readonly now: Date;
}

/** How many are not ready, the survey's progress, what is wrong, plans, a team's workers, open runs. */
export function topLines(top: Top, width: number, most: number, look: Look): readonly Line[] {
  const [long, short] = summaries(top, look);
  const first = lineWidth(long) <= width ? long : short;
  const rows = wrapLine(progress(top), width);
  // A low screen needs the second row for other things.
  const isLow = most < LOW;
  const head = [cutLine(first, width, look), ...(isLow ? [cutLine(progress(top), width, look)] : rows)];
  const troubles = troublesOf(top).flatMap((trouble) => troubleLines(trouble, width, look));
  const room = Math.max(1, most - head.length);
  const more = room === 1 ? [] : [cutLine([span('  `lifeboat doctor` says more', 'text.dim')], width, look)];
  const shown = troubles.length > room ? [...troubles.slice(0, room - more.length), ...more] : troubles;
  const left = room - shown.length;
  // Open runs come first where there is little room.
  const plans = fewPlans(planLines(top, look), left - (top.open.length > 0 ? 1 : 0)).map((line) =>
    cutLine(line, width, look),
  );
  // One row sums the workers up; each has one of its own where the open runs leave room.
  const spare = left - plans.length - Math.max(1, top.open.length);
  const workers = workerLines(top, Math.max(spare, left - plans.length > 1 ? 1 : 0), look).map((line) =>
    cutLine(line, width, look),
  );
  const rest = Math.max(1, left - plans.length - workers.length);
  return [...head, ...shown, ...plans, ...workers, ...runLines(top, width, rest, look)];
}

/** Fewer rows than this have no room for a sentence of two rows. */
const LOW = 6;

function summaries({ fleet, now }: Top, { glyphs }: Look): readonly [long: Line, short: Line] {
  const say = (token: Token, long: string, short: string): readonly [Line, Line] => [
    [span(long, token)],
    [span(short, token)],
  ];
  const known = fleet.last?.value;
  if (known === undefined) {
    // The reason is shown below.
    const text = fleet.part.state === 'failed' ? 'nothing is known' : 'reading the journal';
    return say('text.dim', text, text);
  }
  const all = known.instances.length;
  if (all === 0)
    return say(
      'status.warn',
      'the config names no instance: `lifeboat init` writes one',
      'no instance: `lifeboat init`',
    );
  const counts = fleetCounts(known, now);
  const { proven, ready, waiting } = counts;
  const good = [...(proven > 0 ? [`${proven} PROVEN`] : []), ...(ready > 0 ? [`${ready} READY`] : [])].join(
    ', ',
  );
  const worst = KINDS.filter(({ kind }) => counts[kind] > 0);
  const [first] = worst;
  const of = `of ${counted(all, 'instance')}`;
  const brief = worst.map(({ kind, word }) => `${counts[kind]} ${word}`).join(', ');
  if (waiting > 0) {
    // While answers are missing, show progress: a growing count could be taken for the result.
    const asked = `asked ${all - waiting}`;
    const soFar = first === undefined ? '' : `, so far ${brief}`;
    return say('text.dim', `${asked} ${of}${soFar}`, `${asked} of ${all}${soFar}`);
  }
  if (first === undefined && good === '')
    return say('text.dim', 'there is nothing to recover yet', 'nothing to recover yet');
  if (first === undefined)
    return say(
      'status.ok',
      `${glyphs.done} ${counted(proven + ready, 'instance')}: ${good}`,
      `${glyphs.done} ${good}`,
    );
  const [, ...others] = worst;
  const sign = first.token === 'status.bad' ? glyphs.failed : glyphs.warn;
  const rest = others.map(({ kind, word }) => `, ${counts[kind]} ${word}`).join('');
  return say(
    first.token,
    `${sign} ${counts[first.kind]} ${of} ${first.words}${rest}`,
    `${sign} ${brief} of ${all}`,
  );
}

/** What needs attention, the worst first: as the end of a sentence, and as one word. */
const KINDS: readonly {
  readonly kind: keyof FleetCounts;
  readonly token: Token;
  readonly words: string;
  readonly word: string;
}[] = [
  { kind: 'down', token: 'status.bad', words: 'DOWN', word: 'DOWN' },
  { kind: 'notFound', token: 'status.bad', words: 'NOT FOUND', word: 'NOT FOUND' },
  { kind: 'notReady', token: 'status.bad', words: 'NOT READY', word: 'NOT READY' },
  { kind: 'outOfService', token: 'status.bad', words: 'out of service', word: 'out of service' },
  { kind: 'silent', token: 'status.warn', words: 'asked, and not answered', word: 'not answered' },
  { kind: 'unknown', token: 'status.warn', words: 'UNKNOWN', word: 'UNKNOWN' },
];

/** Answers from an earlier visit show their age from this age on, while newer ones are on their way. */
const AGED_SECONDS = 60;

function progress({ fleet, sort, marked, now }: Top): Line {
  const known = fleet.last?.value;
  // The first row shows it until the survey is complete.
  const isFirst = known !== undefined && fleetCounts(known, now).waiting > 0;
  const ages = [...(known?.answeredAt?.values() ?? [])].map((at) => (now.getTime() - at.getTime()) / 1000);
  const oldest = ages.reduce((most, age) => Math.max(most, age), 0);
  const asked =
    fleet.isAsking && known !== undefined
      ? [
          ...(isFirst ? [] : [`asked ${known.answered} of ${known.instances.length}`]),
          ...(oldest < AGED_SECONDS ? [] : [`answers up to ${briefly(oldest)} old`]),
        ]
      : ages.length === 0
        ? []
        : [`answers at most ${briefly(oldest)} old`];
  return [
    span(
      [
        ...asked,
        `sorted by ${sort}`,
        ...(marked === 0 ? [] : [`${marked} marked`]),
        ...(known === undefined ? [] : [`next drill: ${known.drills}`]),
      ].join(', '),
      'text.dim',
    ),
  ];
}

function troublesOf({ fleet, runs }: Top): readonly Trouble[] {
  const of = (what: string, fact: Fact<unknown>): readonly Trouble[] =>
    fact.part.state === 'failed'
      ? [{ text: `${what} could not be read: ${fact.part.why}`, hints: fact.part.hints ?? [] }]
      : [];
  const known = fleet.last?.value.troubles ?? [];
  // If the journal cannot be read, neither can the runs: report that once.
  return [...of('the fleet', fleet), ...known, ...(known.length > 0 ? [] : of('the runs', runs))];
}

function troubleLines({ text, hints }: Trouble, width: number, look: Look): readonly Line[] {
  return [
    ...wrapLine([span(`${look.glyphs.warn} ${text}`, 'status.bad')], width, 2),
    ...hints.flatMap((hint) => wrapLine([span(`  ${hint}`)], width, 2)),
  ];
}

interface PlanRow {
  readonly plans: number;
  readonly line: Line;
}

/** A row for each plan that could not recover its instances now, the worst first; one for all others. */
function planLines({ fleet }: Top, { glyphs }: Look): readonly PlanRow[] {
  const plans = fleet.last?.value.plans ?? [];
  const bad = (verdict: InstanceVerdict, sign: string, token: Token) =>
    plans
      .filter((one) => one.verdict === verdict)
      .map(({ plan, reason }): PlanRow => {
        return {
          plans: 1,
          line: [span(`${sign} plan ${plan}: ${VERDICT_WORDS[verdict]}: ${reason}`, token)],
        };
      });
  const good = plans.filter(({ verdict }) => verdict === 'proven' || verdict === 'ready');
  const names = good.map(({ plan, verdict }) => `${plan} ${VERDICT_WORDS[verdict]}`).join(', ');
  return [
    ...bad('not-ready', glyphs.failed, 'status.bad'),
    ...bad('unknown', glyphs.warn, 'status.warn'),
    ...(good.length === 0
      ? []
      : [{ plans: good.length, line: [span(`${glyphs.done} plans: ${names}`, 'status.ok')] }]),
  ];
}

/** As many rows as there is room for; the last one says how many plans the others are about. */
function fewPlans(rows: readonly PlanRow[], room: number): readonly Line[] {
  if (rows.length <= room || room <= 0) return rows.slice(0, Math.max(0, room)).map(({ line }) => line);
  const shown = rows.slice(0, room - 1);
  const left = rows.slice(shown.length).reduce((sum, { plans }) => sum + plans, 0);
  const what = shown.length === 0 ? counted(left, 'plan') : counted(left, 'more plan');
  return [
    ...shown.map(({ line }) => line),
    [span(`${what}: \`lifeboat plans evaluate\` shows all`, 'text.dim')],
  ];
}

/** The workers of a team in a row, and those that are live or gone in one each; of no team, nothing. */
function workerLines({ workers, now }: Top, most: number, { glyphs }: Look): readonly Line[] {
  const known = workers.last?.value;
  if (known === undefined || most < 1) return [];
  const isIdle = (known.runs?.unheld.length ?? 0) > 0 && countOf(known, 'live') === 0;
  const isTrouble = known.troubles.length > 0 || countOf(known, 'gone') > 0 || isIdle;
  if (known.items.length === 0 && !isTrouble) return [];
  const sum = workersLines(known).join('; ');
  const head: Line = [
    span(`${isTrouble ? glyphs.warn : glyphs.done} `, isTrouble ? 'status.warn' : 'status.ok'),
    span(sum, isTrouble ? 'status.warn' : 'text'),
  ];
  const here = known.items.filter(({ state }) => state !== 'stopped');
  const rows = here.toSorted((one, other) => one.state.localeCompare(other.state));
  const room = rows.length < most ? rows.length : Math.max(0, most - 2);
  const left = rows.length - room;
  const more = `  ${counted(left, 'more worker')}: \`lifeboat workers\` shows all`;
  return [
    head,
    ...rows
      .slice(0, room)
      .map(
        (worker): Line => [
          span(`  ${workerWords(worker, now)}`, worker.state === 'gone' ? 'status.warn' : 'text.dim'),
        ],
      ),
    ...(left === 0 || most < 2 ? [] : [[span(more, 'text.dim')]]),
  ];
}

function runLines({ open, now, fleet }: Top, width: number, most: number, look: Look): readonly Line[] {
  if (open.length === 0) return [];
  const shown = open.length <= most ? open : open.slice(0, Math.max(0, most - 1));
  const left = open.length - shown.length;
  const more =
    left === 0
      ? []
      : [
          cutLine(
            [span(`${counted(left, shown.length === 0 ? 'open run' : 'more open run')}: r shows all`)],
            width,
            look,
          ),
        ];
  const startedBy = fleet.last?.value.startedBy;
  return [
    ...shown.map((run) => cutLine(runLine(run, startedBy?.get(run.runId), now, look), width, look)),
    ...more,
  ];
}

function runLine(
  { mode, runbook, instance, target, startedAt, heldBy, where }: RunRow,
  by: string | undefined,
  now: Date,
  look: Look,
): Line {
  const age = briefly((now.getTime() - msOf(startedAt)) / 1000);
  const held = heldBy === undefined ? '' : `, held by ${heldBy}`;
  // The run of a plan is on record under the name that holds the plan.
  const subject = runbook === 'plan' ? instance.replace(/^plan\./u, '') : instance;
  const piece: Span[] = [
    span(`${look.glyphs.current} `, 'accent'),
    span(mode, mode === 'LIVE' ? 'badge.live' : 'badge.rehearsal'),
    span(` ${runbook} `, 'text.strong'),
    span(target === undefined ? subject : `${subject} -> ${target}`),
    span(`, open for ${age}${by === undefined ? '' : `, started by ${by}`}${held}: ${where}`),
  ];
  return piece;
}
