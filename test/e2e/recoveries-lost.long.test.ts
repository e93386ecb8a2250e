import { describe, test } from 'vitest';
import { statesOf } from '../bench-kit/entries-of.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { CASES, isChange, runFlow, V0_CASES } from './flows.ts';

const LOST: Trouble = { answer: 'lost' };

describe.concurrent('a recovery with a lost answer, against a foreign service', () => {
  const bench = useQuickBenches();

  test.for([...CASES, ...V0_CASES])(
    '$name in revision $revision: after a lost answer to any change the service is asked, and none is made twice',
    { timeout: 2_400_000 },
    async (flow, context) => {
      const { expect } = context;
      const calm = await bench(context, { revision: flow.revision });
      const { sent } = await runFlow(calm, flow);
      const wanted = sent().map(nameOf);
      expect(wanted.length).toBeGreaterThan(0);
      for (const [index] of wanted.entries()) {
        const { trouble, arm } = losing(index);
        const opened = await bench(context, { revision: flow.revision, trouble });
        const { end, sent: seen } = await runFlow(opened, flow, arm);
        const did = seen()
          .filter((call) => call.did)
          .map(nameOf);
        const states = statesOf(await opened.entries());
        const evidence = `${wanted[index]} (${index}) of ${flow.name}: ${end.code} at ${states.at(-1)}: ${end.stderr.slice(-600)}`;
        // An action of the instance whose answer is lost leaves no trace that differs from a colleague's.
        expect([flow.code, 5], evidence).toContain(end.code);
        for (const call of new Set(wanted))
          expect(count(did, call), evidence).toBeLessThanOrEqual(count(wanted, call) + harmless(call));
        if (end.code === flow.code) for (const call of wanted) expect(did, evidence).toContain(call);
      }
    },
  );
});

/**
 * How often more than in calm weather a call may be made: what changes nothing when it is made again, once
 * for its lost answer. V0 has a download by POST.
 */
function harmless(call: string): number {
  return /prepare|backups-config|edit|download/.test(call) ? 1 : 0;
}

function count(calls: readonly string[], wanted: string): number {
  return calls.filter((call) => call === wanted).length;
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.replace(/[0-9a-f-]{20,}|\d+/g, ':id')}`;
}

/** Loses the answer to the n-th change after it was armed. */
function losing(index: number) {
  let isArmed = false;
  let seen = 0;
  return {
    arm: () => {
      isArmed = true;
    },
    trouble: (call: { readonly method: string }): Trouble | undefined => {
      if (!isArmed || !isChange(call)) return undefined;
      seen += 1;
      return seen === index + 1 ? LOST : undefined;
    },
  };
}
