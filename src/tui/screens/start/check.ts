import { formatSeconds } from '../../../base/format.ts';
import { isDone } from '../../../view/app/backup-list.ts';
import type { DryRunFacts, DryRunStep } from '../../../view/app/dry-run-facts.ts';
import { rowNamed } from '../../../view/app/fleet-row.ts';
import type { Fact } from '../../../view/app/sources.ts';
import { commandOf, type StartWish, stakesOf, takesNewest } from '../../../view/app/start-wish.ts';
import { usualWords } from '../../../view/app/usual-times.ts';
import { wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { failureLines, hintLines } from '../../parts/facts.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { chosenBackup, knownInstances, listOf, type State, wishOf } from './state.ts';

function dryRunOf(state: State, { facts }: Pick<Around, 'facts'>): Fact<DryRunFacts> | undefined {
  const wish = wishOf(state);
  return wish && facts.get('dryRun', wish);
}

/** What the operator must read before the run begins; undefined if there is nothing. */
export function obstacleOf(state: State, around: Pick<Around, 'facts'>): string | undefined {
  if (state.isStarted) return 'you have already started this run from here';
  const dryRun = dryRunOf(state, around);
  if (dryRun?.part.state === 'failed') return `the dry run failed: ${dryRun.part.why}`;
  const found = dryRun?.last?.value;
  if (found === undefined) return 'the dry run has not ended yet';
  return found.inTheWay && `in the way: ${found.inTheWay.text}`;
}

/** What is at stake, how long it takes, and what is in the way. */
export function stakeLines(state: State, around: Around, width: number, look: Look): readonly Line[] {
  const wish = wishOf(state);
  if (wish === undefined) return [];
  const fact = dryRunOf(state, around);
  const dryRun = fact?.last?.value;
  const stakes = stakesOf({ wish, backup: backupOf(state, wish, around), dryRun, now: around.now });
  // Do not repeat what the warning above already says.
  const isWarned = dryRun?.inTheWay !== undefined && state.warned === obstacleOf(state, around);
  const labelled = (label: string, text: string, token: 'text' | 'status.warn' = 'text') =>
    wrapLine([span(text, token)], width - LABEL).map(
      (line, at): Line => [span((at === 0 ? label : '').padEnd(LABEL), 'text.dim'), ...line],
    );
  return [
    ...warningLines(state, isWarned ? (dryRun?.inTheWay?.hints ?? []) : [], width, look),
    ...wrapLine([span(changeWords(wish, around), 'text.strong')], width),
    ...labelled('overwritten', stakes.overwritten),
    ...labelled('lost', stakes.lost),
    ...labelled('way back', stakes.wayBack),
    ...labelled('takes', durationWords(wish, dryRun, around)),
    ...(dryRun?.approvals ?? []).flatMap((text) => labelled('approval', `a second person: ${text}`)),
    ...(fact === undefined ? [] : obstacleLines(fact, isWarned, width, look)),
    ...(dryRun?.asks === undefined ? [] : labelled('asks first', dryRun.asks)),
  ];
}

const LABEL = 13;

function warningLines({ warned }: State, hints: readonly string[], width: number, look: Look) {
  if (warned === undefined) return [];
  return [
    ...wrapLine([span(`${look.glyphs.warn} ${warned}`, 'status.warn')], width, 2),
    ...hintLines(hints, width),
    ...wrapLine([span('  Enter starts the run anyway, Esc goes a step back')], width, 2),
    BLANK,
  ];
}

function obstacleLines(
  { part, last, isAsking }: Fact<DryRunFacts>,
  isWarned: boolean,
  width: number,
  look: Look,
): readonly Line[] {
  if (part.state === 'failed') {
    const hints = ['Ctrl-R asks again; nothing was sent that changes anything'];
    return failureLines(`the dry run failed: ${part.why}`, hints, width, look);
  }
  if (last === undefined)
    return wrapLine([span('the dry run is under way: it sends only GETs', 'text.dim')], width);
  const { inTheWay } = last.value;
  const again = isAsking ? [[span('the dry run is under way again', 'text.dim')]] : [];
  return inTheWay === undefined || isWarned
    ? again
    : [...failureLines(`in the way: ${inTheWay.text}`, inTheWay.hints, width, look), ...again];
}

/** Which instance is changed, and whether live or as a rehearsal. */
function changeWords({ instance, target }: StartWish, around: Around): string {
  const changed = target ?? instance;
  const found = knownInstances(around).home.find(({ name }) => name === changed);
  const mode = found === undefined ? '' : found.isRehearsal ? ', as a rehearsal' : ', LIVE';
  const from = target === undefined ? '' : ` with the data of ${instance}`;
  return `this run changes ${changed}${from}${mode}`;
}

function durationWords({ instance }: StartWish, dryRun: DryRunFacts | undefined, around: Around): string {
  const rto = rowNamed(knownInstances(around).fleet, instance)?.status().rto;
  // Recovery time is an objective only of runs that replace data.
  const isRecovery = dryRun?.steps.some(({ destroys }) => destroys) === true;
  const objective = rto === undefined || !isRecovery ? '' : `; the objective is ${formatSeconds(rto)}`;
  const { usualSeconds, earlierRuns = 0 } = dryRun ?? {};
  const usual = usualWords(usualSeconds, earlierRuns) ?? 'not known: no run of this kind has ended here yet';
  return `${usual}${objective}`;
}

/** The backup whose age says how much is lost: the chosen one, or else the newest known. */
function backupOf(state: State, wish: StartWish, around: Around) {
  const rows = listOf(state, around).last?.value.rows ?? [];
  if (wish.backup !== undefined) return chosenBackup(state, around);
  return takesNewest(wish) ? rows.find(isDone) : undefined;
}

/** What the run finds now, which may be a reason against it, its steps, and the command. */
export function planLines(state: State, around: Around, width: number, look: Look): readonly Line[] {
  const wish = wishOf(state);
  const dryRun = dryRunOf(state, around)?.last?.value;
  if (wish === undefined) return [];
  return [
    ...(dryRun === undefined || dryRun.found.length === 0
      ? []
      : [
          [span('what it finds now', 'text.dim')],
          ...dryRun.found.flatMap(([label, value]) =>
            wrapLine([span(`  ${label}: `, 'text.dim'), span(value)], width, 4),
          ),
          BLANK,
        ]),
    ...(dryRun === undefined || dryRun.steps.length === 0
      ? []
      : [
          [span('what it does', 'text.dim')],
          ...dryRun.steps.flatMap((step) => stepLines(step, width, look)),
        ]),
    BLANK,
    [span('the same from a shell', 'text.dim')],
    ...wrapLine([span(`  ${commandOf(wish)}`, 'text.code')], width, 4),
  ];
}

function stepLines(step: DryRunStep, width: number, look: Look): readonly Line[] {
  const { title, calls, does, asks, destroys, usualSeconds } = step;
  const sign = destroys ? look.glyphs.warn : calls.length > 0 ? look.glyphs.current : look.glyphs.ahead;
  const about = [
    ...(asks ? ['asks you'] : []),
    ...calls,
    ...new Set(does.map((text) => (text.startsWith('platform: ') ? 'acts on the platform' : text))),
    ...(usualSeconds === undefined ? [] : [`took ${formatSeconds(usualSeconds)}`]),
  ];
  return wrapLine(
    [
      span(`  ${sign} `, destroys ? 'status.bad' : 'text.dim'),
      span(title),
      ...(destroys ? [span(' DESTROYS', 'status.bad')] : []),
      ...(about.length === 0 ? [] : [span(`: ${about.join(', ')}`, 'text.dim')]),
    ],
    width,
    6,
  );
}
