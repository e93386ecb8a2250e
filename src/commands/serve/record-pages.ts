import { runbookOf } from '../../../machines/index.ts';
import { isoOf } from '../../base/date.ts';
import { formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { lastEvaluated } from '../../compose/last-evaluated.ts';
import { followUpsOfRun, gatherFollowUps, type OpenFollowUp } from '../../compose/open-follow-ups.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { forecastOf } from '../../plans/forecast.ts';
import { nextTimes } from '../../queue/cron.ts';
import { drillDue } from '../../report/drill/drill-report.ts';
import { renderPlanReport, renderReport } from '../../report/render-report.ts';
import { foldGrowing } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import { progressOnRecord } from '../../runner/watched-run.ts';
import type { PageSources, RunAnswer } from '../../serve/app.ts';
import { boardPage, drillsPage, evaluationPage } from '../../serve/models/board-page.ts';
import { type Moment, UNDRIVEN } from '../../serve/models/headline.ts';
import { planPage } from '../../serve/models/plan-page.ts';
import { asksOfRun, runPage } from '../../serve/models/run-page.ts';
import { presentable } from '../../serve/names.ts';
import type { Asked, FollowUpRow, RunRow, VerdictRow } from '../../serve/page.ts';
import { fieldsOf, type Holder, type ProjectedRow } from '../../store/journal.ts';
import { readEvaluations } from '../../store/projections/evaluations.ts';
import { childOf, childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns, type RunProgress, runs, summariesOf } from '../../store/projections/runs.ts';
import type { UsualTimes } from '../../view/app/usual-times.ts';
import { buildRunView } from '../../view/build-run-view.ts';
import { planView } from '../../view/plan/build-plan-view.ts';
import { recordOf } from '../../view/run-record.ts';
import type { RunView } from '../../view/run-view.ts';
import { viewFollowUp } from '../../view/view-follow-ups.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { readHistories } from '../plans/plan-history.ts';
import { planFoldOnRecord } from '../plans/plan-on-record.ts';
import { isPlanRun, planReportOf } from '../plans/plan-report-of.ts';
import { earlierTimes } from '../run/history.ts';
import { targetsIn } from '../run/run-input.ts';
import { reportOf } from '../run/run-report.ts';
import { lastTimes } from '../worker/schedules.ts';
import { changesOf } from './changes-of.ts';
import type { FollowedRecord } from './followed-record.ts';

/** Ended runs on the board. */
const ENDED = 8;
/** Among how many of the newest they are looked for. */
const SEARCHED = 300;
/** Open runs whose questions are read. */
const FOLDED = 20;
const DRILLS = 30;
/** For how many runs the times of earlier ones are kept. */
const FORECASTS = 200;

/** From record, config and this home's drills; asks no instance, reads no key. */
export class RecordPages implements PageSources {
  readonly #context: CommandContext;
  readonly #config: LoadedConfig;
  readonly #record: FollowedRecord;
  readonly #isMasked: boolean;
  readonly #usual = new Map<string, Promise<UsualTimes | undefined>>();
  readonly #totals = new Map<string, Promise<number | undefined>>();

  constructor(context: CommandContext, config: LoadedConfig, record: FollowedRecord, isMasked: boolean) {
    this.#context = context;
    this.#config = config;
    this.#record = record;
    this.#isMasked = isMasked;
  }

  size(): number {
    return this.#record.size;
  }

  async board() {
    const record = this.#record;
    const open = await record.rows(runs.name, { group: 'open' });
    const ids = new Set(open.map(({ key }) => key));
    // A step of a plan is on the page of the plan, for as long as that is open.
    const own = open.filter((row) => !ids.has(planOf(row) ?? ''));
    const rows = await Promise.all(summariesOf(own).map((run) => this.#rowOf(run)));
    const asks: Asked[] = [];
    for (const row of rows.slice(0, FOLDED)) asks.push(...(await this.#asksOf(row)));
    const facts = {
      ...(await this.#evaluations()),
      runs: rows,
      ended: await this.#ended(),
      asks,
      followUps: await this.#followUps(await gatherFollowUps(record)),
      changes: changesOf(record.recent()),
      drills: drillDue(knownDrills(this.#context.env), this.#config.drills?.every, record.now()),
    };
    return this.#shown(boardPage(facts, await this.#moment()));
  }

  async evaluation() {
    return this.#shown(evaluationPage(await this.#evaluations(), await this.#moment()));
  }

  async drills() {
    const { env } = this.#context;
    const now = this.#record.now();
    const drills = knownDrills(env);
    const known = await lastTimes(this.#record);
    const facts = {
      due: drillDue(drills, this.#config.drills?.every, now),
      drills: drills
        .toReversed()
        .slice(0, DRILLS)
        .map(({ id, scope, outcome, begunAt, endedAt, chapters }) => ({
          ...{ id: show(id, 60), scope: show(scope, 120), outcome, at: endedAt ?? begunAt },
          chapters: chapters.length,
          proven: chapters.filter((one) => one.outcome === 'proven').length,
        })),
      rehearsals: this.#config.schedules.map((schedule) => {
        const last = known.get(schedule.name);
        const [next] = nextTimes(schedule, now);
        const plan = 'plan' in schedule && schedule.plan !== undefined ? ` ${schedule.plan}` : '';
        return {
          ...{ name: schedule.name, does: `${schedule.do}${plan}` },
          ...(next === undefined ? {} : { next: next.toISOString() }),
          ...(last?.hasRun === true ? { lastRan: last.at } : {}),
        };
      }),
    };
    return this.#shown(drillsPage(facts, await this.#moment()));
  }

  async run(id: string): Promise<RunAnswer | undefined> {
    const summary = await this.#summaryOf(id);
    if (summary === undefined) return undefined;
    if (isPlanRun(summary)) {
      const page = await this.#plan(summary);
      if (page !== undefined) return { kind: 'plan', page: this.#shown(page) };
    }
    const row = await this.#rowOf(summary);
    const view = await this.#viewOf(row, summary);
    const { here } = recordOf(await this.#record.read(`run/${id}`));
    const usual = await this.#usualOf(summary);
    const beside = {
      ...{ run: row, sinceMs: here?.since, changes: changesOf(this.#record.recent(), about([id])) },
      forecast: view?.activity?.runExpected ?? usualWords(usual),
    };
    const page = runPage(view ?? unreadable(summary, this.#record.now()), beside, await this.#moment());
    return { kind: 'run', page: this.#shown(page) };
  }

  async report(id: string) {
    const summary = await this.#summaryOf(id);
    if (summary === undefined) return undefined;
    const found = isPlanRun(summary) ? await planReportOf(this.#record, summary) : undefined;
    if (found !== undefined) {
      const plan = this.#shown(found.plan);
      return { html: renderPlanReport(plan, 'html'), json: renderPlanReport(plan, 'json') };
    }
    const report = this.#shown(await reportOf(this.#record, summary));
    return { html: renderReport(report, 'html'), json: renderReport(report, 'json') };
  }

  async #plan(summary: RunSummary) {
    const record = this.#record;
    const fold = await planFoldOnRecord(record, summary, record.now().getTime());
    if (fold === undefined) return undefined;
    const view = planView(fold);
    const entries = await record.read(`run/${summary.runId}`);
    const children = await childrenOf(record, summary.runId);
    const open = new Map(children.map((child) => [child.runId, child]));
    const left: OpenFollowUp[] = [];
    for (const run of (await openRuns(record)).filter(({ runId }) => open.has(runId)))
      for (const followUp of await followUpsOfRun(record, run))
        left.push({ followUp, instance: run.target ?? run.instance, run });
    const ids = [summary.runId, ...open.keys()];
    const { here } = recordOf(entries);
    return planPage(
      view,
      {
        run: await this.#rowOf(summary),
        sinceMs: here?.since,
        changes: changesOf(record.recent(), about(ids)),
        followUps: await this.#followUps(left.filter(({ followUp }) => followUp.closed === undefined)),
        forecast:
          view.outcome === undefined ? await this.#planForecast(summary, msOf(entries[0]?.at)) : undefined,
      },
      await this.#moment(),
    );
  }

  /** The newest runs that are over; for the steps of a plan, the run of the plan. */
  async #ended(): Promise<readonly RunRow[]> {
    const rows = await this.#record.rows(runs.name, {
      group: 'closed',
      limit: SEARCHED,
      order: 'descending',
    });
    const steps = new Set<string>();
    const plans = new Set<string>();
    const found: RunRow[] = [];
    for (const { key } of rows) {
      if (found.length === ENDED) break;
      if (steps.has(key) || plans.has(key)) continue;
      const step = await childOf(this.#record, key);
      if (step !== undefined)
        for (const one of await childrenOf(this.#record, step.run)) steps.add(one.runId);
      const id = step?.run ?? key;
      plans.add(id);
      const summary = await this.#summaryOf(id);
      if (summary !== undefined && summary.status !== 'open') found.push(await this.#rowOf(summary));
    }
    return found;
  }

  async #moment(): Promise<Moment> {
    const { size, root } = await this.#record.log.head();
    return { at: this.#record.now(), log: { size, root } };
  }

  async #summaryOf(id: string): Promise<RunSummary | undefined> {
    const rows = await this.#record.rows(runs.name, { keyPrefix: id, limit: 1 });
    return summariesOf(rows.filter(({ key }) => key === id))[0];
  }

  async #rowOf({ version: _, ...run }: RunSummary): Promise<RunRow> {
    const base = {
      ...run,
      where: show(run.where, 200),
      ...(run.by === undefined ? {} : { by: show(run.by, 60) }),
    };
    if (run.status !== 'open') return base;
    return { ...base, driver: driverWords(await this.#record.holder(`run/${run.runId}`)) };
  }

  /** The run as every renderer shows it; undefined for a version of its runbook that is not here. */
  async #viewOf(row: Pick<RunRow, 'runId' | 'runbook' | 'instance'>, { version }: RunSummary) {
    const { runId, instance } = row;
    const runbook = runbookOf(row.runbook, version);
    if (runbook === undefined) return undefined;
    const entries = await this.#record.read(`run/${runId}`);
    const { snapshot } = foldGrowing(runbook, entries);
    const isHeld = (await this.#record.holder(`run/${runId}`)) !== undefined;
    const { activity, paused } = progressOnRecord(entries);
    return buildRunView({
      ...{ runbook, runId, instance, snapshot, entries, paused },
      // If no process drives the run, its activity has stopped with the one that did.
      activity: isHeld ? activity : undefined,
      prose: new Map(),
      targets: targetsIn(this.#config),
      usual: await this.#usualOf({ ...row, version }),
      now: this.#record.now(),
    });
  }

  async #asksOf(row: RunRow): Promise<readonly Asked[]> {
    const summary = await this.#summaryOf(row.runId);
    if (summary === undefined) return [];
    try {
      if (isPlanRun(summary)) return (await this.#plan(summary))?.asks ?? [];
      const view = await this.#viewOf(row, summary);
      return view === undefined ? [] : asksOfRun(view, row);
    } catch {
      // The page of that run says what is wrong with it.
      return [];
    }
  }

  async #followUps(found: readonly OpenFollowUp[]): Promise<readonly FollowUpRow[]> {
    const now = this.#record.now();
    return found
      .filter(({ followUp }) => followUp.closed === undefined)
      .map(({ followUp, instance, run }) => {
        const { what, owner, age, left } = viewFollowUp(followUp, run?.by ?? 'the operator', now);
        return {
          ...{ what, owner, instance },
          ...(run === undefined ? {} : { runId: run.runId }),
          ...(age === undefined ? {} : { ageSeconds: age }),
          ...(left === undefined ? {} : { leftSeconds: left }),
        };
      })
      .toSorted((one, other) => (one.leftSeconds ?? Infinity) - (other.leftSeconds ?? Infinity));
  }

  async #evaluations() {
    const known = await readEvaluations(this.#record);
    const last = lastEvaluated(this.#context.env);
    const names = Object.keys(this.#config.instances);
    const verdicts = [...known].map(
      ([subject, { verdict, reason, since, at, findings }]): VerdictRow => ({
        ...{ subject, verdict, reason: show(reason, 200), since, recordedAt: at },
        ...(last[subject] === undefined ? {} : { askedAt: last[subject] }),
        findings: findings.map((finding) => ({ ...finding, reason: show(finding.reason, 200) })),
      }),
    );
    return {
      verdicts: verdicts.toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict)),
      unevaluated: names.filter((name) => !known.has(name)),
    };
  }

  #usualOf(summary: Pick<RunSummary, 'runId' | 'runbook' | 'version' | 'instance'>) {
    return keptIn(this.#usual, summary.runId, async () => {
      const runbook = runbookOf(summary.runbook, summary.version);
      if (runbook === undefined) return undefined;
      const { mode, action } = fieldsOf(inputOf(await this.#record.read(`run/${summary.runId}`)));
      const { instance } = summary;
      return earlierTimes(this.#record, runbook, { mode, action, instance });
    });
  }

  /** When a plan should be over, by what its steps took before; reckoned once. */
  async #planForecast({ runId, instance }: RunSummary, startedMs: number): Promise<string | undefined> {
    const totalMs = await keptIn(this.#totals, runId, async () => {
      const input = inputOf(await this.#record.read(`run/${runId}`)) as never;
      const plan = instance.replace(planSubject(''), '');
      const { timeOf } = await (await readHistories(this.#record))(plan);
      const { totalMs: total, unknown, steps } = forecastOf(input, timeOf);
      return unknown === steps ? undefined : total;
    });
    if (totalMs === undefined) return undefined;
    const endMs = startedMs + totalMs;
    const now = this.#record.now().getTime();
    const usual = `${formatSpan(totalMs / 1000)} by earlier runs`;
    return endMs < now
      ? `${usual}: longer than that by ${formatSpan((now - endMs) / 1000)}`
      : `${usual}: over at ${formatTime(isoOf(endMs))} UTC`;
  }

  #shown<Page>(page: Page): Page {
    const { operator, instances } = this.#config;
    const owners = Object.values(instances).flatMap(({ apps }) =>
      (apps ?? []).flatMap(({ owner }) => owner ?? []),
    );
    const named = [
      ...(operator.name === undefined ? [] : [operator.name]),
      ...owners,
      ...this.#record.people(),
    ];
    return presentable(page, { people: this.#isMasked ? [...new Set(named)] : [] });
  }
}

const ORDER = ['not-ready', 'unknown', 'ready', 'proven', 'empty'] as const;

function planOf({ value }: ProjectedRow): string | undefined {
  return (value as unknown as RunProgress).planRun;
}

function about(ids: readonly string[]): (stream: string) => boolean {
  const streams = new Set(ids.flatMap((id) => [`run/${id}`, `plan/${id}`]));
  return (stream) => streams.has(stream);
}

function driverWords(holder: Holder | undefined): string {
  if (holder === undefined) return UNDRIVEN;
  return `driven by ${holder.by === undefined ? 'a process' : show(holder.by, 60)} on ${show(holder.host, 60)}`;
}

function usualWords(usual: UsualTimes | undefined): string | undefined {
  if (usual?.wholeSeconds === undefined || usual.wholeSeconds < 1) return undefined;
  return `earlier runs took ${formatSpan(usual.wholeSeconds)}, without the waits for people`;
}

/** A run of a version that is not here: what its summary says, and how to read the rest. */
function unreadable({ runId, runbook, instance, mode, where }: RunSummary, now: Date): RunView {
  return {
    ...{ runId, runbook, instance, mode, title: 'it cannot be read by this version' },
    ...{ clock: formatTime(now.toISOString()), elapsed: 0, rail: [], facts: [], followUps: [], log: [] },
    ...{ prose: { title: show(where, 200), markdown: '' }, objectives: [], paused: false },
  };
}

async function keptIn<Value>(
  kept: Map<string, Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const found = kept.get(key) ?? make();
  kept.set(key, found);
  const [oldest] = kept.keys();
  if (kept.size > FORECASTS && oldest !== undefined) kept.delete(oldest);
  found.catch(() => kept.delete(key));
  return found;
}
