import { expect, test } from 'vitest';
import { mostAtWork } from './most-at-work.ts';

const begun = (index: number, stream: string) => ({
  ...{ index, stream, type: 'run.started' },
  body: { runbook: 'disaster-recovery', plan: { group: 'data' } },
});
const moved = (index: number, stream: string, to: string) => ({ index, stream, type: 'event', body: { to } });
const closed = (index: number, stream: string) => ({ index, stream, type: 'run.closed', body: {} });

test('children are counted while they work: not at a question, but again once it is answered, and not when closed', () => {
  const both = [begun(1, 'run/a'), begun(2, 'run/b')];
  expect(mostAtWork(both)).toEqual({ data: 2 });
  const asked = moved(3, 'run/a', 'confirm.asking');
  expect(mostAtWork([...both, asked, begun(4, 'run/c')])).toEqual({ data: 2 });
  expect(mostAtWork([...both, moved(3, 'run/a', 'preflight.checking'), begun(4, 'run/c')])).toEqual({
    data: 3,
  });
  const answered = moved(5, 'run/a', 'perform.sending');
  expect(mostAtWork([answered, begun(4, 'run/c'), asked, ...both])).toEqual({ data: 3 });
  expect(mostAtWork([...both, closed(3, 'run/a'), begun(4, 'run/c')])).toEqual({ data: 2 });
});
