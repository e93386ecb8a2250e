import { writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { statePath } from '../../machines/parts/states.ts';
import { type Kind, type PlanScene, somePlan, until, WITHIN_MS } from './plan-scene.ts';

const KINDS: readonly Kind[] = ['plan', 'step'];
const WITHIN = WITHIN_MS / 1000;

const typesIn = async (at: PlanScene, prefix = 'approval.') =>
  (await at.entries()).map(({ type }) => type).filter((type) => type.startsWith(prefix));
const stateOf = (at: PlanScene) => statePath(at.run().state().snapshot);
/** Where a run waits for approvals, and where it is once it has them. */
const WAITS = { plan: 'approve.asked', step: 'approve.asking' };
const GOES_ON = { plan: 'confirm', step: 'done' };

/** An answer, and what becomes of a run that waits for two approvals. */
interface Row {
  readonly answer: string;
  readonly kinds: readonly Kind[];
  readonly give: (at: PlanScene) => Promise<unknown>;
  /** The state that it leads to; by default the run still waits. */
  readonly to?: Readonly<Partial<Record<Kind, string>>>;
  readonly wrote: readonly string[];
}

const ASKED = 'approval.asked';
const GIVEN = 'approval.given';

const ROWS: readonly Row[] = [
  {
    answer: 'approve, by as many people as the quorum',
    kinds: KINDS,
    give: async (at) => [await at.sign(at.people.bob), await at.sign(at.people.carol)],
    to: GOES_ON,
    wrote: [ASKED, GIVEN, ASKED, GIVEN],
  },
  {
    answer: 'approve, by one person of two',
    kinds: KINDS,
    give: (at) => at.sign(at.people.bob),
    wrote: [ASKED, GIVEN, ASKED],
  },
  {
    answer: 'approve, and the process dies before the name is typed',
    kinds: KINDS,
    give: async (at) => {
      await at.lay(at.people.bob.sign((await at.asked()).text));
      await at.lookAgain();
      return at.type();
    },
    wrote: [ASKED, GIVEN, ASKED],
  },
  {
    answer: 'deny: the request is withdrawn, and another one is written when the name is typed',
    kinds: KINDS,
    give: async (at) => {
      await at.lay(at.people.bob.sign((await at.asked()).text));
      await at.withdraw('not tonight');
      return at.type();
    },
    wrote: [ASKED, 'approval.withdrawn', ASKED],
  },
  {
    answer: 'break the glass for one of two',
    kinds: KINDS,
    give: (at) =>
      at.run().answer({ event: 'operator.confirm', typed: at.name, breakGlass: 'nobody answers' }),
    wrote: [ASKED, 'approval.bypassed', ASKED],
  },
  {
    answer: 'skip with a reason',
    kinds: ['step'],
    give: (at) => at.run().answer({ event: 'operator.skip', text: 'the phone line is down' }),
    to: { step: 'unproven' },
    wrote: [ASKED],
  },
  {
    answer: 'skip with a reason, after one approval',
    kinds: ['step'],
    give: async (at) => {
      await at.sign(at.people.bob);
      await at.run().answer({ event: 'operator.skip', text: 'Carol approved by phone' });
    },
    to: { step: 'unproven' },
    wrote: [ASKED, GIVEN, ASKED],
  },
  {
    answer: 'expired, then asked again and approved',
    kinds: KINDS,
    give: async (at) => {
      at.clock.seconds = WITHIN;
      return [await at.type(), await at.sign(at.people.bob), await at.sign(at.people.carol)];
    },
    to: GOES_ON,
    wrote: [ASKED, ASKED, GIVEN, ASKED, GIVEN],
  },
  {
    answer: 'expired, then asked again and stopped',
    kinds: KINDS,
    give: async (at) => {
      at.clock.seconds = WITHIN;
      await at.type();
      await at.run().answer({ event: 'operator.stop' });
    },
    to: { plan: 'stopped', step: 'stopped' },
    wrote: [ASKED, ASKED],
  },
  {
    answer: 'stop while it waits',
    kinds: KINDS,
    give: (at) => at.run().answer({ event: 'operator.stop' }),
    to: { plan: 'stopped', step: 'stopped' },
    wrote: [ASKED],
  },
  {
    answer: 'leave while it waits, and look again',
    kinds: KINDS,
    give: (at) => at.lookAgain(),
    wrote: [ASKED],
  },
  {
    answer: 'type the name with no signature there',
    kinds: KINDS,
    give: (at) => at.type(),
    wrote: [ASKED],
  },
  {
    answer: 'type another name',
    kinds: KINDS,
    give: (at) => at.type('east'),
    wrote: [ASKED],
  },
];

describe.concurrent('an approval that a plan asks for', () => {
  test.for(ROWS.flatMap((row) => row.kinds.map((kind) => [row.answer, kind, row] as const)))(
    '%s: a %s reaches the state that the table gives',
    async ([, kind, { give, to = WAITS, wrote }], context) => {
      const { expect } = context;
      const at = await somePlan(context, kind);
      await give(at);
      expect(stateOf(at)).toBe(to[kind]);
      expect(await typesIn(at)).toEqual(wrote);
    },
  );

  test.for([
    ['approval.needed', /a second person has to approve it by/, async () => undefined],
    [
      'approval.expired',
      /has expired; a new one was written/,
      async (at: PlanScene) => {
        await at.lay(at.people.bob.sign((await at.asked()).text));
        at.clock.seconds = WITHIN;
      },
    ],
    [
      'approval.refused',
      /for an earlier request of this run, and a newer one has replaced that/,
      async (at: PlanScene) => {
        const superseded = at.people.carol.sign((await at.asked()).text);
        await at.sign(at.people.bob);
        await at.lay(superseded);
      },
    ],
    [
      'approval.withdrawn',
      /the approval was withdrawn: not tonight/,
      (at: PlanScene) => at.withdraw('not tonight'),
    ],
    [
      'approval.refused',
      /the plan lets only bob@acme.com, carol@acme.com, .* approve, and this is dave@acme.com/,
      async (at: PlanScene) => at.lay(at.people.dave.sign((await at.asked()).text)),
    ],
    [
      'approval.same-person',
      /bob@acme.com has approved this before, and counts once/,
      async (at: PlanScene) => {
        await at.sign(at.people.bob);
        await at.lay(at.people.bob.sign((await at.asked()).text));
      },
    ],
    [
      'approval.same-person',
      /sam@acme.com.* (?:started the plan|asked for this approval) and cannot approve it/,
      async (at: PlanScene) => at.lay(at.people.sam.sign((await at.asked()).text)),
    ],
    [
      'approval.same-person',
      /olga@acme.com.* asked for this approval and cannot approve it/,
      async (at: PlanScene) => at.lay(at.people.olga.sign((await at.asked()).text)),
    ],
  ] as const)('is refused with the reason (%s, %s)', async ([code, says, prepare], context) => {
    const { expect } = context;
    for (const kind of KINDS) {
      const at = await somePlan(context, kind);
      await prepare(at);
      const refusal = await at.type();
      expect([refusal?.code, refusal?.shortMessage]).toEqual([code, expect.stringMatching(says)]);
      expect(refusal?.exitCode === 3 || code === 'approval.refused').toBe(true);
      expect(stateOf(at)).toBe(WAITS[kind]);
    }
  });

  test('by the person who started the plan counts where the plan allows that, if somebody else drives the step', async (context) => {
    const { expect } = context;
    const at = await somePlan(context, 'step', { notBy: 'nobody', quorum: 1 });
    expect(await at.sign(at.people.sam)).toBeUndefined();
    expect(stateOf(at)).toBe('done');
  });

  test('counts once for a person with two keys, under whatever name the second is listed', async (context) => {
    const { expect } = context;
    const at = await somePlan(context, 'step', { of: undefined });
    const { bob, carol } = at.people;
    // Carol's key is now a second one of Bob, whose first is listed under both names.
    const robert = (key: string) => `robert@home.org namespaces="lifeboat-approval" ${key}\n`;
    writeFileSync(at.signers, `${bob.line()}${robert(bob.publicKey)}${robert(carol.publicKey)}`);
    expect(await at.sign(bob)).toBeUndefined();
    expect(await at.sign(carol)).toMatchObject({
      code: 'approval.same-person',
      shortMessage: expect.stringContaining('has approved this before'),
    });
  });

  test.for(KINDS)(
    'may be signed for as long as a %s says, whatever the config says',
    async (kind, context) => {
      const { expect } = context;
      const at = await somePlan(context, kind, { within: 48 * 3_600_000, quorum: 1 });
      expect((await at.asked()).expiresAt).toBe('2026-11-23T03:00:00.000Z');
      at.clock.seconds = 47 * 3600;
      expect(await at.sign(at.people.bob)).toBeUndefined();
      expect(stateOf(at)).toBe(GOES_ON[kind]);
    },
  );

  test.for(KINDS)(
    'that expired is requested again when a %s with `ask-again` is looked at, and the old one approves nothing',
    async (kind, context) => {
      const { expect } = context;
      const at = await somePlan(context, kind, { onExpiry: 'ask-again', quorum: 1 });
      const old = await at.asked();
      await at.lay(at.people.bob.sign(old.text));
      at.clock.seconds = WITHIN;
      await at.lookAgain();
      expect(stateOf(at)).toBe(WAITS[kind]);
      const asked = await at.asked();
      expect(asked.expiresAt).toBe('2026-11-21T04:00:00.000Z');
      expect((await at.type())?.code).toBe('approval.needed');
      await at.lay(at.people.bob.sign(old.text));
      expect((await at.type())?.shortMessage).toContain('a newer one has replaced that');
      expect(await at.sign(at.people.bob)).toBeUndefined();
      expect(await typesIn(at)).toEqual([ASKED, ASKED, GIVEN]);
    },
  );

  test('that expired is requested again while a process shows the run, once it is woken', async (context) => {
    const { expect } = context;
    const at = await somePlan(context, 'step', { onExpiry: 'ask-again' });
    const { challenge } = await at.asked();
    at.clock.seconds = WITHIN;
    at.run().wake();
    await until(at.run(), ({ entries }) => entries.filter(({ type }) => type === ASKED).length === 2);
    expect((await at.asked()).challenge).not.toBe(challenge);
  });

  test.for(KINDS)('that expired stops a %s with `stop`, and gives the reason', async (kind, context) => {
    const { expect } = context;
    const at = await somePlan(context, kind, { onExpiry: 'stop' });
    await at.sign(at.people.bob);
    at.clock.seconds = WITHIN;
    await at.lookAgain();
    await at.run().ended;
    const closed = (await at.entries()).find(({ type }) => type === 'run.closed');
    expect(closed?.body).toMatchObject({ outcome: 'stopped', title: expect.stringContaining('in time') });
    expect(await typesIn(at)).toEqual([ASKED, GIVEN, ASKED]);
  });

  test('that expired waits for a person with `pause`, however often the run is looked at', async (context) => {
    const { expect } = context;
    const at = await somePlan(context, 'step');
    at.clock.seconds = WITHIN;
    await at.lookAgain();
    await at.lookAgain();
    expect(await typesIn(at)).toEqual([ASKED]);
  });

  test.for(['ask-again', 'stop'] as const)(
    'that was withdrawn still waits for a person when its time is over, with `%s`',
    async (onExpiry, context) => {
      const { expect } = context;
      const at = await somePlan(context, 'step', { onExpiry });
      await at.withdraw('not tonight');
      at.clock.seconds = WITHIN;
      await at.lookAgain();
      expect([stateOf(at), await typesIn(at)]).toEqual(['approve.asking', [ASKED]]);
      expect((await at.type())?.code).toBe('approval.withdrawn');
      expect(await typesIn(at)).toEqual([ASKED, 'approval.withdrawn', ASKED]);
    },
  );

  test('of a start shows the plan, the hash of its file, its steps and every target', async (context) => {
    const { expect } = context;
    const { text } = await (await somePlan(context, 'plan')).asked();
    expect(text).toContain('order: start the plan west (approval 1 of 2)\n');
    expect(text).toContain('target: west\n');
    expect(text).toContain('fact: plan: west\n');
    expect(text).toContain(`fact: plan file: SHA-256 ${'ab'.repeat(32)}\n`);
    expect(text).toContain('fact: source: down\n');
    expect(text).toContain('fact: steps of data: recover\n');
    expect(text).toContain('fact: instances of data: orders into orders-west, payroll into payroll-west\n');
    expect(text).toContain('fact: steps of traffic: dns\n');
  });

  test('of a step shows the results of the groups that it names', async (context) => {
    const { expect } = context;
    const { text } = await (await somePlan(context, 'step', { shows: ['data'] })).asked();
    expect(text).toContain('order: go on with go (approval 1 of 2)\n');
    expect(text).toContain('fact: result of data: 0 steps done\n');
  });
});
