import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { printableJson } from '../base/text.ts';
import type { FanOut } from './fan-out.ts';
import { renderBoard, renderDrills, renderEvaluation, renderRun } from './html/render-page.ts';
import { renderGroup, renderPlan } from './html/render-plan.ts';
import { aged, type Delivery, POLICY, policyForStyle, UNREADABLE } from './html/shell.ts';
import { KeptPages } from './kept-pages.ts';
import type { PageName, PageOf } from './page.ts';

/** The page of a run, which for the run of a plan is that of the plan. */
export type RunAnswer =
  | { readonly kind: 'run'; readonly page: PageOf<'page-run'> }
  | { readonly kind: 'plan'; readonly page: PageOf<'page-plan'> };

/** Where pages come from. Each question reads the record, and asks no instance. */
export interface PageSources {
  board(): Promise<PageOf<'page-board'>>;
  evaluation(): Promise<PageOf<'page-evaluation'>>;
  drills(): Promise<PageOf<'page-drills'>>;
  /** Undefined for an id that no run has. */
  run(id: string): Promise<RunAnswer | undefined>;
  /** The record of a run, as one HTML file and as JSON; likewise. */
  report(id: string): Promise<{ readonly html: string; readonly json: string } | undefined>;
  size(): number;
}

export interface AppOptions {
  readonly sources: PageSources;
  readonly news: FanOut;
  readonly onFailure: (thrown: unknown) => void;
}

interface Answer {
  readonly body: string;
  readonly type: 'html' | 'json';
  readonly policy: string;
  /** By a clock that only goes on, in milliseconds. */
  readonly madeMs: number;
}

type Served = Context<{ Bindings: HttpBindings }>;

/** Answers every request: `admit` decides before who may ask. */
export function pageApp({ sources, news, onFailure }: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const kept = new KeptPages<Answer | undefined>(() => sources.size());
  const answer = async (context: Served, key: string, make: () => Promise<Made | undefined>) => {
    const found = await kept.get(key, async () => {
      const made = await make();
      return made && { policy: POLICY, ...made, madeMs: performance.now() };
    });
    if (found === undefined) return context.notFound();
    const { body, type, policy, madeMs } = found;
    const headers = { ...SAFE_HEADERS, 'Content-Security-Policy': policy };
    if (type === 'json')
      return context.body(body, 200, { ...headers, 'Content-Type': 'application/json; charset=utf-8' });
    const seconds = (performance.now() - madeMs) / 1000;
    return context.body(aged(body, seconds), 200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' });
  };

  app.get('/', (context) =>
    answer(context, 'board', async () => html(renderBoard(await sources.board(), servedBy('/board.json')))),
  );
  app.get('/board.json', (context) =>
    answer(context, 'board.json', async () => json('page-board', await sources.board())),
  );
  app.get('/evaluation', (context) =>
    answer(context, 'evaluation', async () =>
      html(renderEvaluation(await sources.evaluation(), servedBy('/evaluation.json'))),
    ),
  );
  app.get('/evaluation.json', (context) =>
    answer(context, 'evaluation.json', async () => json('page-evaluation', await sources.evaluation())),
  );
  app.get('/drills', (context) =>
    answer(context, 'drills', async () =>
      html(renderDrills(await sources.drills(), servedBy('/drills.json'))),
    ),
  );
  app.get('/drills.json', (context) =>
    answer(context, 'drills.json', async () => json('page-drills', await sources.drills())),
  );
  app.get(`/runs/:id{${RUN_ID}}`, (context) => {
    const { id } = context.req.param();
    return answer(context, `run ${id}`, async () => {
      const found = await sources.run(id);
      return found && html(renderRunAnswer(found, servedBy(`/runs/${id}.json`)));
    });
  });
  app.get(`/runs/:file{${RUN_ID}\\.json}`, (context) => {
    const id = context.req.param('file').slice(0, -'.json'.length);
    return answer(context, `run ${id} json`, async () => {
      const found = await sources.run(id);
      return found && { body: runTwinText(found), type: 'json' };
    });
  });
  app.get(`/runs/:id{${RUN_ID}}/groups/:group`, (context) => {
    const { id, group: name } = context.req.param();
    const from = Math.min(1_000_000, Number(/^\d{1,7}$/u.exec(context.req.query('from') ?? '')?.[0] ?? 0));
    return answer(context, `run ${id} group ${name} ${from}`, async () => {
      const found = await sources.run(id);
      const page = found?.kind === 'plan' ? found.page : undefined;
      const group = page?.groups.find((one) => one.id === name);
      return page && group && html(renderGroup(page, group, from, servedBy(`/runs/${id}.json`)));
    });
  });
  // A report is the one page that is longer than 30 KiB, by its charts.
  app.use(`/runs/:id{${RUN_ID}}/report`, compress({ encoding: 'gzip' }));
  app.get(`/runs/:id{${RUN_ID}}/report`, (context) => {
    const { id } = context.req.param();
    return answer(context, `report ${id}`, async () => {
      const found = await sources.report(id);
      return found && { body: found.html, type: 'html', policy: policyForStyle(styleIn(found.html)) };
    });
  });
  app.get(`/runs/:id{${RUN_ID}}/report.json`, (context) => {
    const { id } = context.req.param();
    return answer(context, `report ${id} json`, async () => {
      const found = await sources.report(id);
      return found && { body: found.json, type: 'json' };
    });
  });
  app.get('/events', (context) => {
    const { outgoing } = context.env;
    // A stream has no end, and so no answer to HEAD but its headers.
    if (context.req.method === 'HEAD')
      return context.body(null, 200, { ...SAFE_HEADERS, 'Content-Type': 'text/event-stream' });
    if (news.open(outgoing as ServerResponse)) return RESPONSE_ALREADY_SENT;
    return context.text('as many look on as may\n', 429, { ...SAFE_HEADERS, 'Retry-After': '30' });
  });
  app.notFound((context) => context.text('there is no such page\n', 404, SAFE_HEADERS));
  app.onError((thrown, context) => {
    onFailure(thrown);
    const headers = { ...SAFE_HEADERS, 'Retry-After': '10' };
    if (context.req.path.endsWith('.json'))
      return context.json({ error: 'the record cannot be read now' }, 503, headers);
    return context.html(UNREADABLE, 503, { ...headers, 'Content-Security-Policy': POLICY });
  });
  return app;
}

type Made = Pick<Answer, 'body' | 'type'> & Partial<Pick<Answer, 'policy'>>;

/** As every id of a run is written; what looks otherwise is not searched for. */
const RUN_ID = '[0-9A-Za-z][0-9A-Za-z_-]{0,99}';

/** In every answer: no other origin, no frame and no cache may use it. */
export const SAFE_HEADERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

function servedBy(twin: string): Delivery {
  return { how: 'served', twin };
}

function html(body: string): Made {
  return { body, type: 'html' };
}

function json<Name extends PageName>(name: Name, page: PageOf<Name>): Made {
  return { body: twinText(name, page), type: 'json' };
}

export function twinText<Name extends PageName>(name: Name, page: PageOf<Name>): string {
  return `${printableJson({ schema: `lifeboat.${name}/1`, ...page })}\n`;
}

export function runTwinText(found: RunAnswer): string {
  return found.kind === 'plan' ? twinText('page-plan', found.page) : twinText('page-run', found.page);
}

export function renderRunAnswer(found: RunAnswer, delivery: Delivery): string {
  return found.kind === 'plan' ? renderPlan(found.page, delivery) : renderRun(found.page, delivery);
}

/** The one style of a report, exactly as it stands there. */
function styleIn(report: string): string {
  return /<style>([\s\S]*?)<\/style>/u.exec(report)?.[1] ?? '';
}
