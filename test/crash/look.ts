import { entriesIn } from '../bench-kit/entries-of.ts';
import { runsIn } from './ledger.ts';
import type { Stage } from './stage.ts';

/** What `lifeboat runs` and `lifeboat audit` would meet, right after a blow. */
export async function look(stage: Stage) {
  try {
    const runs = runsIn(await entriesIn(stage.bench));
    const own = runs[stage.runsBefore] ?? [];
    const last = own.at(-1);
    const { activity, verb, to } = (last?.body ?? {}) as { activity?: string; verb?: string; to?: string };
    const where = [last?.type ?? 'nothing', activity ?? verb ?? to].filter((word) => word !== undefined);
    const isClosed = own.some(({ type }) => type === 'run.closed');
    return { where: where.join(' '), isBegun: own.length > stage.written, isClosed, problems: [] };
  } catch (thrown) {
    const problems = [`after the blow nothing can be read: ${String(thrown)}`];
    return { where: 'unreadable', isBegun: false, isClosed: false, problems };
  }
}
