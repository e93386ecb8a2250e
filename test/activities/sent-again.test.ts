import { expect, test } from 'vitest';
import { retryThrottled, sentAgain } from '../../src/activities/once-task.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import type { SendOutcome } from '../../src/service/client.ts';

const DONE: SendOutcome<string> = {
  outcome: 'accepted',
  value: 'done',
  raw: undefined,
  status: 200,
  serverDate: undefined,
};
const { signal } = new AbortController();

function ended(outcome: 'refused' | 'unknown', code: string, againMs?: number): SendOutcome<string> {
  const failure = new LifeboatError(code, 'as wished').toFailure();
  return { outcome, failure, serverDate: undefined, ...(againMs === undefined ? {} : { againMs }) };
}

/** Returns one outcome after another and counts the calls. */
function sender(...outcomes: readonly SendOutcome<string>[]) {
  let calls = 0;
  const send = async () => {
    calls += 1;
    return outcomes[calls - 1] ?? DONE;
  };
  return { send, calls: () => calls };
}

const BUSY = ended('refused', 'service.busy', 1_000);
const LOST = ended('unknown', 'service.reset');
const BOTH = [
  { what: 'a change that may be made again', verb: sentAgain },
  { what: 'a change whose lost answer has to be known', verb: retryThrottled },
];

test.for(BOTH)(
  '$what is sent again when it was throttled, but not before the time that the service asks for',
  async ({ verb }) => {
    const { send, calls } = sender(BUSY);
    const began = performance.now();
    expect(await verb(send, signal)).toMatchObject({ outcome: 'accepted' });
    expect(calls()).toBe(2);
    expect(performance.now() - began).toBeGreaterThan(990);
  },
);

test.for(BOTH)('$what is abandoned when it is throttled repeatedly', async ({ verb }) => {
  const { send, calls } = sender(BUSY, BUSY, BUSY, BUSY);
  expect(await verb(send, signal)).toEqual(BUSY);
  expect(calls()).toBe(3);
});

test.for(BOTH)('$what is not delayed for an hour because a service asks for it', async ({ verb }) => {
  const later = ended('refused', 'service.busy');
  const { send, calls } = sender(later);
  expect(await verb(send, signal)).toEqual(later);
  expect(calls()).toBe(1);
});

test.for(BOTH)('$what is not sent again after any other refusal', async ({ verb }) => {
  const refused = ended('refused', 'service.forbidden');
  const { send, calls } = sender(refused);
  expect(await verb(send, signal)).toEqual(refused);
  expect(calls()).toBe(1);
});

test('only repeatable calls are sent again after a lost answer', async () => {
  const again = sender(LOST);
  expect(await sentAgain(again.send, signal)).toMatchObject({ outcome: 'accepted' });
  const once = sender(BUSY, LOST);
  expect(await retryThrottled(once.send, signal)).toEqual(LOST);
  expect(once.calls()).toBe(2);
});

test('nothing is sent again once the run is stopped', async () => {
  const stop = new AbortController();
  const { send, calls } = sender(LOST);
  const sent = sentAgain(send, stop.signal);
  stop.abort();
  expect(await sent).toEqual(LOST);
  expect(calls()).toBe(1);
});
