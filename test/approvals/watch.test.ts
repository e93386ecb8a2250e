import { dirname } from 'node:path';
import { describe, test } from 'vitest';
import { approvalWatch } from '../../src/commands/approvals/gate-of-run.ts';
import { approvalLine } from '../../src/plain/describe-approval.ts';
import { someConfirmation } from './confirmation.ts';

describe.concurrent('what is shown of an approval', () => {
  test('becomes given once the signature is there and valid', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    const watch = approvalWatch(at.gate, dirname(at.signers), { allowedSigners: at.signers });
    // The watch uses this machine's clock; the request must be open by it.
    at.seconds = (Date.now() - Date.parse('2026-11-21T03:00:00.000Z')) / 1000;
    at.arrive();
    expect(watch(at.state())?.state).toBe('needed');
    at.lay(at.bob.sign(at.asked().text));
    await expect.poll(() => watch(at.state())?.state, { timeout: 300_000 }).toBe('given');
  });

  test('is never given for a request that differs from what the run is about to do, with the reason', (context) => {
    const { expect } = context;
    const other = someConfirmation(context, { run: 'R1' });
    const at = someConfirmation(context);
    const watch = approvalWatch(at.gate, dirname(at.signers), { allowedSigners: at.signers });
    at.append('approval.asked', other.asked());
    at.lay(at.bob.sign(other.asked().text));
    const shown = watch(at.state());
    expect(shown).toMatchObject({ state: 'needed', file: '', command: '' });
    expect(shown && approvalLine(shown)).toEqual({
      text: 'not approved: the request on record does not fit this confirmation: its text has another run',
      tone: 'bad',
    });
  });

  test('wakes the run once when a request has expired, where the plan says what happens then', (context) => {
    const { expect } = context;
    const woken = (onExpiry: 'pause' | 'ask-again' | 'stop') => {
      const terms = { within: 60_000, onExpiry, starter: [], given: 0 };
      const at = someConfirmation(context, { termsOf: () => terms });
      let times = 0;
      const watch = approvalWatch(at.gate, dirname(at.signers), undefined, () => {
        times += 1;
      });
      at.seconds = 59;
      expect(watch(at.state())?.state).toBe('needed');
      at.seconds = 60;
      expect([watch(at.state())?.state, watch(at.state())?.state]).toEqual(['expired', 'expired']);
      return times;
    };
    expect([woken('pause'), woken('ask-again'), woken('stop')]).toEqual([0, 1, 1]);
  });
});
