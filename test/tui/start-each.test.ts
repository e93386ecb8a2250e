import { expect, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { startEach } from '../../src/tui/errands.ts';
import { eachScreen } from '../../src/tui/screens/each/each.ts';
import type { AppPort } from '../../src/view/app/app-port.ts';
import type { RunEnd, RunPort } from '../../src/view/run-port.ts';
import {
  fact,
  factsOf,
  failedPart,
  fleetOf,
  opened,
  press,
  SIZE,
  statusOf,
  unaskedOf,
} from './fake-fleet.ts';
import { VIEWS } from './fake-views.ts';

const backUp = (instance: string) => ({ runbook: 'back-up-and-verify', instance }) as const;

/** Begins a run of each instance, which ends as it is said here; what is not named cannot be begun. */
function world(ends: Readonly<Record<string, RunEnd['how']>>) {
  const begun: string[] = [];
  const start: AppPort['start'] = async ({ instance }, show) => {
    const how = ends[instance];
    if (how === undefined) throw new LifeboatError('run.open', `a run of ${instance} is open`);
    begun.push(instance);
    const view = { ...VIEWS.outcome, runId: `RUN-${instance}` };
    await show({ view: () => view, ended: Promise.resolve({ how, exitCode: 0 }) } as unknown as RunPort);
    return [];
  };
  return { begun, start, show: (port: RunPort) => port.ended };
}

test('begins one run after the other, and one that cannot begin does not delay the rest', async () => {
  const { begun, ...given } = world({ a: 'ended', c: 'ended' });
  const { text, lines } = await startEach({ wishes: ['a', 'b', 'c'].map(backUp), ...given });
  expect(begun).toEqual(['a', 'c']);
  expect(text).toMatch(/of 3 ended well/u);
  expect(lines).toEqual([
    expect.stringContaining('(run RUN-a)'),
    'b: a run of b is open',
    expect.stringContaining('(run RUN-c)'),
  ]);
});

test('leaving a run ends the series, and names what was not begun', async () => {
  const { begun, ...given } = world({ a: 'detached', b: 'ended' });
  const { lines } = await startEach({ wishes: ['a', 'b'].map(backUp), ...given });
  expect(begun).toEqual(['a']);
  expect(lines).toEqual(['a: left open, resume it with: lifeboat resume RUN-a', 'b: not begun']);
});

test('says how many are backed up and which are left out, and begins only with Enter', () => {
  const no = failedPart('no answer');
  const down = statusOf('down', { overview: no, backups: no, window: no });
  const fleet = fact(fleetOf([statusOf('orders'), statusOf('stock'), down, unaskedOf('spare', 'target')]));
  const { screen, at, effects } = opened(
    eachScreen({ name: 'each', what: 'backup', instances: ['stock', 'down', 'orders', 'gone'] }),
    factsOf({ fleet }),
  );
  const text = at(SIZE).join('\n');
  expect(text).toContain('a new backup of 2 instances, one after the other');
  expect(text).toMatch(/down .*left out: it is DOWN[\s\S]*gone .*left out: it is not known here/u);
  expect(text).toContain('Enter back up 2');
  press(screen, 'down', 'b', 's');
  expect(effects).toEqual([]);
  press(screen, 'enter');
  const wishes = [backUp('stock'), backUp('orders')];
  expect(effects).toEqual([{ type: 'instead', effect: { type: 'start-each', wishes } }]);
});

test('makes a recovery card of each instance that answers, and of none whose run would wait for a token', () => {
  const refused = {
    ...failedPart('the service refuses the token (401)'),
    code: 'credentials.refused',
  } as const;
  const locked = statusOf('locked', { overview: refused, backups: refused, window: refused });
  const { screen, at, effects } = opened(
    eachScreen({ name: 'each', what: 'card', instances: ['orders', 'locked'] }),
    factsOf({ fleet: fact(fleetOf([statusOf('orders'), locked])) }),
  );
  const text = at(SIZE).join('\n');
  expect(text).toContain('a recovery card of 1 instance names the guid');
  expect(text).toMatch(/orders .*gets a card\s+locked .*left out: its token is not taken/u);
  press(screen, 'enter');
  const wishes = [{ runbook: 'disaster-recovery', prepare: true, instance: 'orders' }];
  expect(effects).toEqual([{ type: 'instead', effect: { type: 'start-each', wishes } }]);
});
