import type { ScreenRequest, ShownKey } from '../../src/tui/live-screen.ts';
import { FRESH_LIST } from '../../src/tui/parts/list.ts';
import { EVERYWHERE } from '../../src/tui/screens/help/help.ts';
import { loadScreen } from '../../src/tui/screens/index.ts';
import { planKeys } from '../../src/tui/screens/plan/plan-keys.ts';
import { FIRST, type Page } from '../../src/tui/screens/plan/plan-state.ts';
import { helpBindings } from '../../src/tui/screens/run/keymap.ts';
import type { Facts } from '../../src/view/app/sources.ts';
import { childOf, failureOf, viewOf } from '../view/plan/fake-plan.ts';

/** Every screen of the app once, in the order of the page. */
const SCREENS: { readonly [Name in ScreenRequest['name']]: ScreenRequest & { readonly name: Name } } = {
  board: { name: 'board' },
  start: { name: 'start' },
  runs: { name: 'runs' },
  followups: { name: 'followups' },
  each: { name: 'each', what: 'backup', instances: ['NAME'] },
  watch: { name: 'watch', runId: 'RUN' },
  instance: { name: 'instance', instance: 'NAME' },
  keys: { name: 'keys' },
  journal: { name: 'journal' },
  report: { name: 'report', runId: 'RUN' },
  lab: { name: 'lab' },
};

/** The keys of every screen, as the screens themselves name them. */
export async function keyTables(): Promise<string> {
  const parts = [
    part('On every screen', EVERYWHERE),
    part('While a run is driven', helpBindings()),
    part('While a plan is driven', keysOfPlan()),
    ...(await Promise.all(
      Object.entries(SCREENS).map(async ([name, request]) =>
        part(`Screen \`${name}\``, await keysOf(request)),
      ),
    )),
  ];
  return parts.join('\n\n');
}

/** The keys that work on every screen. */
export function commonKeys(): string {
  return table(EVERYWHERE);
}

async function keysOf(request: ScreenRequest): Promise<readonly ShownKey[]> {
  const now = () => new Date(0);
  const open = await loadScreen(request);
  return open({ request, facts: WITH_LAB, now, onEffect: () => undefined }).keys();
}

/** The keys of the screen of a plan: its groups, a question, an instance. */
function keysOfPlan(): readonly ShownKey[] {
  const view = viewOf({ children: [failureOf('db-1'), childOf('db-2')] });
  const back = FIRST.page;
  const pages: readonly Page[] = [
    back,
    { is: 'ask', ask: view.asks[0]?.key ?? '', list: FRESH_LIST, back },
    { is: 'lane', lane: 'data/db-1', scroll: 0, back },
  ];
  return pages.flatMap((page) => planKeys({ ...FIRST, page }, view));
}

/** Nothing is known but that the config names a lab: some keys are there only then. */
const WITH_LAB: Facts = {
  get: (source) => {
    if (source !== 'home') return { part: { state: 'unasked' }, isAsking: false };
    const value = { instances: [], lab: { place: '', elsewhere: [] } };
    return { part: { state: 'unasked' }, isAsking: false, last: { at: new Date(0), value } } as never;
  },
};

type Named = Pick<ShownKey, 'shown' | 'description'>;

function part(title: string, keys: readonly Named[]): string {
  return `### ${title}\n\n${table(keys)}`;
}

function table(keys: readonly Named[]): string {
  const rows = keys
    .filter(({ shown }) => shown !== '')
    .map(({ shown, description }) => `| ${shown.replaceAll('|', '\\|')} | ${description} |`);
  return ['| key | what it does |', '|---|---|', ...new Set(rows)].join('\n');
}
