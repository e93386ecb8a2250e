import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { QuestionView, RunView } from '../../view/run-view.ts';
import type { Asked, FollowUpRow, Objective, PageOf, RunRow, Shared } from '../page.ts';
import { headlineOf, type Moment, objectiveWords, textOf, UNDRIVEN } from './headline.ts';

interface Beside {
  readonly run: RunRow;
  /** When it came into its state, in milliseconds since 1970. */
  readonly sinceMs: number | undefined;
  readonly changes: Pick<Shared, 'changes'> & { readonly more: number };
  /** When the run should end, by earlier ones. */
  readonly forecast: string | undefined;
}

/** The most rows of one kind on a page: it stays small, and says how many more there are. */
export const MOST_ROWS = 12;

export function runPage(view: RunView, beside: Beside, moment: Moment): PageOf<'page-run'> {
  const { run, changes, forecast, sinceMs } = beside;
  const what = `${run.runbook} of ${run.instance}${run.target === undefined ? '' : ` into ${run.target}`}`;
  const asks = asksOfRun(view, run);
  const open = openFollowUps(view, run);
  const followUps = open.slice(0, MOST_ROWS);
  const objectives = view.objectives.map(objectiveOf);
  const more = { changes: changes.more, followUps: open.length - followUps.length };
  const state = view.outcome?.title ?? view.prose.title;
  const isOver = run.status !== 'open';
  const headline = headlineOf(
    {
      ...{ mode: view.mode, what, state, asks },
      sinceMs: isOver ? msOf(run.lastAt) : sinceMs,
      driver: isOver ? undefined : (run.driver ?? UNDRIVEN),
    },
    moment.at,
  );
  return {
    ...{ at: moment.at.toISOString(), log: moment.log },
    title: `${what}: ${view.title}`,
    headline,
    tone: view.outcome?.tone ?? view.banner?.tone ?? (asks.length > 0 ? 'warn' : 'plain'),
    text: textOf(headline, { asks, followUps, more, objectives, forecast }, moment),
    ...{ run, objectives, asks, followUps, more, changes: changes.changes },
    ...(forecast === undefined ? {} : { forecast }),
    steps: view.rail.map(({ title, state: of, seconds, note }) => ({
      ...{ title, state: of },
      ...(seconds === undefined ? {} : { seconds }),
      ...(note === undefined ? {} : { note }),
    })),
    ...(view.activity === undefined ? {} : { doing: view.activity.title }),
    ...(view.banner === undefined ? {} : { trouble: view.banner.text }),
    facts: view.facts.slice(0, MOST_ROWS).map(({ label, value, tone }) => ({ label, value, tone })),
  };
}

export function asksOfRun(
  { question, paused, banner }: Pick<RunView, 'question' | 'paused' | 'banner'>,
  { runId, by, status }: Pick<RunRow, 'runId' | 'by' | 'status'>,
): readonly Asked[] {
  if (status !== 'open') return [];
  const person = by === undefined ? 'a person' : show(by, 60);
  const base = { runId, count: 1 } as const;
  if (question !== undefined) return [{ ...base, prompt: question.prompt, whom: whomOf(question, person) }];
  return paused ? [{ ...base, prompt: banner?.text ?? 'new credentials', whom: person }] : [];
}

function whomOf(question: QuestionView, person: string): string {
  const approval = question.kind === 'typed-name' ? question.approval?.state : undefined;
  return approval === 'needed' || approval === 'expired' ? 'a second person' : person;
}

function openFollowUps({ followUps }: RunView, { runId, instance, target }: RunRow): readonly FollowUpRow[] {
  return followUps
    .filter(({ closed }) => closed === undefined)
    .map(({ what, owner, age, left }) => ({
      ...{ what, owner, instance: target ?? instance, runId },
      ...(age === undefined ? {} : { ageSeconds: age }),
      ...(left === undefined ? {} : { leftSeconds: left }),
    }));
}

function objectiveOf(view: RunView['objectives'][number]): Objective {
  const { name, limit, value, running, tone, verdict } = view;
  return {
    ...{ name, running, tone },
    ...(limit === undefined ? {} : { limitSeconds: limit }),
    ...(value === undefined ? {} : { valueSeconds: value }),
    words: objectiveWords({ name, limit, value }, verdict),
  };
}
