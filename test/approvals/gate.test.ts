import { rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { approvalPaths } from '../../src/approvals/approval-files.ts';
import { challengeId, challengeText, parseChallenge } from '../../src/approvals/challenge.ts';
import { fitsAsked } from '../../src/approvals/still-holds.ts';
import { type Asked, EXPIRES_MS, PLAN, someConfirmation } from './confirmation.ts';

/** Another complete challenge that belongs to no run. */
function otherwise(asked: Asked, change: Partial<ReturnType<typeof parseChallenge>>): Asked {
  const text = challengeText({ ...parseChallenge(asked.text), ...change });
  return { ...asked, text, challenge: challengeId(text) };
}

describe.concurrent('an approval', () => {
  test('of the current request lets the confirmation pass, with the signature on record', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    expect((await at.confirm()).code).toBe('approval.needed');
    at.lay(at.bob.sign(at.asked().text));
    expect(await at.confirm()).toEqual({ code: undefined, wrote: ['approval.given'] });
    expect(at.entries.at(-1)?.body).toMatchObject({ approver: 'bob@acme.com' });
    expect(at.entries.at(-1)?.body).not.toHaveProperty('moment');
  });

  test('of another run does not count, whatever entry it is placed under', async (context) => {
    const { expect } = context;
    const first = someConfirmation(context, { run: 'R1' });
    const of = first.asked();
    const signature = first.bob.sign(of.text);
    const mine = someConfirmation(context);
    writeFileSync(mine.signers, first.bob.line());
    // The entry of this run, with text and name of the other one's.
    mine.append('approval.asked', { ...mine.asked(), text: of.text, challenge: of.challenge });
    mine.lay(signature);
    expect(mine.gate.misfit(mine.state())).toBe('its text has another run');
    expect(await mine.gate.lookAt(mine.state())).toBeUndefined();
    expect(await mine.confirm()).toEqual({ code: 'approval.astray', wrote: ['approval.asked'] });
    expect(mine.asked().text).toContain('run: R2\n');
    expect((await mine.confirm()).code).toBe('approval.needed');
  });

  test.for([
    ['text', { text: challengeText({ ...PLAN_TEXT(), order: 'restart orders' }) }],
    ['challenge', { challenge: '0123456789abcdef' }],
    ['target', { target: 'payroll' }],
    ['order', { order: 'restart orders' }],
    ['plan', { plan: '0'.repeat(64) }],
    ['requester', { requester: 'carol@acme.com' }],
    ['expiresAt', { expiresAt: '2027-01-01T00:00:00.000Z' }],
  ] as const)('under an entry with only another %s does not count', async ([, change], context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    const honest = at.asked();
    expect(fitsAsked(honest, { runId: 'R2' })).toBeUndefined();
    const forged = { ...honest, ...change };
    expect(fitsAsked(forged, { runId: 'R2' })).toMatch(/^its text /);
    at.append('approval.asked', forged);
    at.lay(at.bob.sign(honest.text));
    at.lay(at.bob.sign(forged.text), forged.challenge);
    expect((await at.confirm()).code).toBe('approval.astray');
  });

  test.for([
    ['run', 'R1'],
    ['order', 'restore backup 1 into orders'],
    ['runbook', 'restart 1'],
    ['mode', 'REHEARSAL'],
    ['instance', 'payroll'],
    ['target', 'payroll'],
    ['url', 'https://example.com/payroll'],
    ['state', 'elsewhere'],
    ['prompt', 'type anything'],
    ['facts', ['backup: 1']],
    ['overrides', ['nothing: to see']],
    ['calls', []],
    ['entry', '1'],
    ['entry', '99'],
    ['entry', 'NaN'],
  ] as const)(
    'over a text whose %s (%j) is not that of the run does not count',
    async ([name, value], context) => {
      const { expect } = context;
      const at = someConfirmation(context);
      const other = otherwise(at.asked(), { [name]: value });
      // Entry and text agree, so only the state of the run shows the difference.
      const said = parseChallenge(other.text);
      at.append('approval.asked', { ...other, order: said.order, target: said.target });
      at.lay(at.bob.sign(other.text));
      const { code, wrote } = await at.confirm();
      expect([code, wrote]).toEqual(['approval.astray', ['approval.asked']]);
    },
  );

  test('counts once: the next confirmation of the same plan requires another', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    const used = at.asked();
    const signature = at.bob.sign(used.text);
    at.lay(signature);
    expect((await at.confirm()).code).toBeUndefined();
    at.append('event', { event: { type: 'operator.confirm' }, to: 'sending' });
    at.arrive();
    expect(at.asked().challenge).not.toBe(used.challenge);
    at.lay(signature);
    expect((await at.confirm()).code).toBe('approval.refused');
    at.append('approval.asked', used);
    expect((await at.confirm()).code).toBe('approval.astray');
  });

  test('is valid as long as the plan is unchanged, and is requested again after a change', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    at.lay(at.bob.sign(at.asked().text));
    at.append('run.resumed', { pid: 1 });
    const was = at.plan;
    at.plan = { ...was, facts: ['backup: 2, grown'] };
    expect(await at.confirm()).toEqual({ code: 'approval.needed', wrote: ['approval.asked'] });
    at.plan = was;
    at.entries.pop();
    expect((await at.confirm()).code).toBeUndefined();
  });

  test('is checked when it is used: if its key was revoked or removed from the list since, it does not count', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    at.lay(at.bob.sign(at.asked().text));
    expect(await at.gate.lookAt(at.state())).toMatchObject({ principals: ['bob@acme.com'] });
    writeFileSync(at.revoked, `${at.bob.publicKey}\n`);
    expect((await at.confirm()).code).toBe('approval.refused');
    writeFileSync(at.revoked, '');
    writeFileSync(at.signers, at.alice.line());
    expect((await at.confirm()).code).toBe('approval.refused');
    writeFileSync(at.signers, at.bob.line());
    expect((await at.confirm()).code).toBeUndefined();
  });

  test('is checked again before its call: if expired, withdrawn, or removed from the list, it does not count', async (context) => {
    const { expect } = context;
    const armed = async (change: (at: ReturnType<typeof someConfirmation>) => void) => {
      const at = someConfirmation(context);
      at.lay(at.bob.sign(at.asked().text));
      expect((await at.confirm()).code).toBeUndefined();
      at.append('event', { event: { type: 'operator.confirm', typed: 'orders' }, to: 'sending' });
      change(at);
      const { notes, refusal } = await at.gate.mayArm(at.entries, { verb: 'restoreBackup', input: {} });
      return [refusal?.code, ...notes.map(({ type }) => type)];
    };
    const challengeFile = (at: ReturnType<typeof someConfirmation>) =>
      approvalPaths(at.signers.replace(/\/[^/]*$/, ''), 'R2', at.asked().challenge).withdrawn;
    expect(await armed(() => undefined)).toEqual([undefined]);
    expect(
      await armed((at) => {
        at.seconds = EXPIRES_MS / 1000 - 0.001;
      }),
    ).toEqual([undefined]);
    expect(
      await armed((at) => {
        at.seconds = EXPIRES_MS / 1000;
      }),
    ).toEqual(['approval.expired']);
    expect(await armed((at) => writeFileSync(at.revoked, `${at.bob.publicKey}\n`))).toEqual([
      'approval.refused',
    ]);
    expect(await armed((at) => writeFileSync(at.signers, at.alice.line()))).toEqual(['approval.refused']);
    expect(await armed((at) => writeFileSync(challengeFile(at), 'wrong backup\n'))).toEqual([
      'approval.withdrawn',
      'approval.withdrawn',
    ]);
    const record = (at: ReturnType<typeof someConfirmation>) =>
      at.append('approval.withdrawn', { challenge: at.asked().challenge, approver: 'bob', reason: 'wrong' });
    expect(await armed(record)).toEqual(['approval.withdrawn']);
  });

  test('of an earlier confirmation does not cover a later one, and one is needed where the config requires it now', async (context) => {
    const { expect } = context;
    let asks = false;
    const at = someConfirmation(context, { needs: () => asks });
    at.lay(at.bob.sign(at.asked().text));
    await at.confirm();
    const confirmed = { event: { type: 'operator.confirm', typed: 'orders' }, to: 'sending' };
    at.append('event', confirmed);
    at.seconds = EXPIRES_MS;
    at.append('event', { event: { type: 'xstate.done.actor.send' }, to: 'asking' });
    at.append('event', confirmed);
    const look = async () => (await at.gate.mayArm(at.entries, { verb: 'restart', input: {} })).refusal?.code;
    expect(await look()).toBeUndefined();
    asks = true;
    expect(await look()).toBe('approval.needed');
  });

  test('that was withdrawn stays withdrawn when the same request is placed again', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    const taken = at.asked();
    at.lay(at.bob.sign(taken.text));
    const { withdrawn } = approvalPaths(at.signers.replace(/\/[^/]*$/, ''), 'R2', taken.challenge);
    writeFileSync(withdrawn, 'wrong backup\n');
    expect((await at.confirm()).wrote).toEqual(['approval.withdrawn', 'approval.asked']);
    rmSync(withdrawn);
    at.append('approval.asked', taken);
    expect((await at.confirm()).code).toBe('approval.withdrawn');
  });

  test('expires to the second, even if the clock was set back in between, and a clock set ahead gains no time', async (context) => {
    const { expect } = context;
    const end = EXPIRES_MS / 1000;
    const at = (seconds: number, moved: number) => {
      const made = someConfirmation(context);
      made.lay(made.bob.sign(made.asked().text));
      made.seconds = seconds;
      if (moved !== 0) made.append('clock.moved', { seconds: moved });
      return made.confirm();
    };
    expect((await at(end - 0.001, 0)).code).toBeUndefined();
    expect((await at(end, 0)).code).toBe('approval.expired');
    expect((await at(end / 2, -end / 2)).code).toBe('approval.expired');
    expect((await at(end / 2, -end / 2 + 1)).code).toBeUndefined();
    expect((await at(end, 1000)).code).toBe('approval.expired');
  });

  test('that is timed by the clock of the record says until which moment', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    at.lay(at.bob.sign(at.asked().text));
    at.seconds = 600;
    at.append('clock.moved', { seconds: -1200 });
    expect((await at.confirm()).code).toBeUndefined();
    expect(at.entries.at(-1)?.body).toMatchObject({ moment: '2026-11-21T03:30:00.000Z' });
  });

  test('by a name that resembles the requester is refused with the way to tell two people apart', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    at.lay(at.alice.sign(at.asked().text));
    for (const [name, hint] of [
      ['alice+ops@acme.com', /./],
      ['alice@home.org', /two people: list the key .* under a name that tells them apart/],
    ] as const) {
      writeFileSync(at.signers, `${name} ${at.alice.publicKey}\n`);
      const { refusal } = await at.gate.check(at.state(), { event: PLAN.event, typed: 'orders' });
      expect(refusal?.code, name).toBe('approval.same-person');
      expect(refusal?.hints[0]).toMatch(hint);
    }
  });

  test('can bypass a request that does not match only with a matching one on record', async (context) => {
    const { expect } = context;
    const at = someConfirmation(context);
    at.append('approval.asked', otherwise(at.asked(), { run: 'R1' }));
    expect(await at.confirm('nobody there')).toEqual({
      code: undefined,
      wrote: ['approval.asked', 'approval.bypassed'],
    });
    expect(at.entries.at(-1)?.body).toMatchObject({ challenge: at.asked().challenge });
    expect(fitsAsked(at.asked(), { runId: 'R2' })).toBeUndefined();
  });
});

function PLAN_TEXT() {
  const when = { entry: '2', requester: 'alice@acme.com', asked: '2026-11-21T03:00:00.000Z' };
  return { ...PLAN, ...when, expires: '2026-11-21T04:00:00.000Z', plan: '00' };
}
