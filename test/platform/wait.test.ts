import { expect, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { DEFAULT_PACE, waitFor } from '../../src/platform/wait.ts';
import { PACE } from './world.ts';

const pace = { ...DEFAULT_PACE, ...PACE, patienceMs: 100 };
const { signal } = new AbortController();

/** A look that throws so often, and then shows something. */
function after(times: number, code: string) {
  let looks = 0;
  const look = async () => {
    looks += 1;
    if (looks <= times) throw new LifeboatError(code, 'as wished');
    return 'there';
  };
  return { look, looks: () => looks };
}

test.each(['platform.unreachable', 'platform.busy', 'platform.bad-answer'])(
  'one failed look (%s) does not end a wait, but continuous failures do',
  async (code) => {
    // However slow the machine is, it looks three times in as long.
    const patient = { ...pace, patienceMs: 60_000 };
    expect(await waitFor({ signal, pace: patient, what: 'it' }, after(2, code).look)).toBe('there');
    const never = after(Number.POSITIVE_INFINITY, code);
    const brief = { ...pace, patienceMs: 1_000 };
    await expect(waitFor({ signal, pace: brief, what: 'it' }, never.look)).rejects.toMatchObject({ code });
    expect(never.looks()).toBeGreaterThan(2);
  },
);

test.each(['platform.forbidden', 'platform.refused', 'platform.too-large', 'credentials.refused'])(
  'a failure that will not pass by itself (%s) ends a wait at once',
  async (code) => {
    const { look, looks } = after(1, code);
    await expect(waitFor({ signal, pace, what: 'it' }, look)).rejects.toMatchObject({ code });
    expect(looks()).toBe(1);
  },
);
