import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { admitted, begunOf, type Present, weakenings } from '../../src/approvals/policy.ts';
import { sshKeygen } from '../../src/approvals/ssh-signature.ts';
import { keptRevoked, keptSigners } from '../../src/approvals/verify-signature.ts';
import type { Entry, Json } from '../../src/store/journal.ts';
import { EXPIRES_MS, someConfirmation } from './confirmation.ts';
import { somePeople } from './people.ts';

const WHO = { name: 'alice', login: 'root', uid: 0, host: 'h', config: 'c' };
const ASKS: Present = { who: WHO, approvals: { required: { orders: 'destructive' }, expiresSeconds: 60 } };
const MUTE: Present = { who: WHO, approvals: { required: { orders: 'none' } } };

function entriesOf(...lines: readonly (readonly [type: string, body: unknown, by?: string])[]): Entry[] {
  return lines.map(([type, body, by = 'alice'], index) => ({
    ...{ stream: 'run/R', seq: index + 1, at: '2026-11-21T03:00:00.000Z', by, type },
    ...{ body: body as Json, index, hash: '' },
  }));
}

const started = (more: object = {}) => ({
  ...{ runbook: 'x', version: '1', instance: 'orders', input: {}, mode: 'LIVE', operator: 'alice' },
  ...{ tool: { name: 'lifeboat', version: '1', node: '24' }, ...more },
});
const OPTIONS = { configPath: '/lifeboat.yaml' };

test('a person who resumes a run is recorded if something differs from before, and only then', () => {
  const entries = entriesOf(['run.started', started(ASKS)]);
  expect(admitted(entries, ASKS, OPTIONS)).toEqual({ resumed: {}, notes: [] });
  const other = { ...ASKS, who: { ...WHO, login: 'bob', uid: 1001 } };
  expect(admitted(entries, other, OPTIONS)).toEqual({ resumed: { who: other.who }, notes: [] });
  entries.push(...entriesOf(['run.resumed', { pid: 1, who: other.who }]));
  expect(admitted(entries, other, OPTIONS).resumed).toEqual({});
  expect(admitted(entries, ASKS, OPTIONS).resumed).toEqual({ who: WHO });
});

test('a weaker policy is refused with the earlier and the present policy, and break-glass is recorded each time', () => {
  const entries = entriesOf(['run.started', started(ASKS)]);
  expect(() => admitted(entries, MUTE, OPTIONS)).toThrow(
    expect.objectContaining({ code: 'approval.weaker', exitCode: 3 }),
  );
  const glass = admitted(entries, MUTE, { ...OPTIONS, breakGlass: 'alone' });
  expect(glass.notes).toMatchObject([{ type: 'approval.weakened', body: { reason: 'alone' } }]);
  entries.push(...entriesOf(['run.resumed', { pid: 1, ...glass.resumed }]));
  entries.push(...entriesOf(['approval.weakened', glass.notes[0]?.body]));
  // The policy from the beginning still counts.
  expect(begunOf(entries).approvals).toEqual(ASKS.approvals);
  expect(() => admitted(entries, MUTE, OPTIONS)).toThrow('less approval than when the run began');
});

test('a record of an earlier version can be resumed unchanged, and the present policy applies', () => {
  const entries = entriesOf(['run.started', started()]);
  expect(begunOf(entries)).toEqual({ approvals: undefined, latest: {}, requesters: ['alice'] });
  expect(admitted(entries, MUTE, OPTIONS).notes).toEqual([]);
  entries.push(...entriesOf(['run.resumed', { pid: 1, ...admitted(entries, ASKS, OPTIONS).resumed }]));
  expect(begunOf(entries).approvals).toEqual(ASKS.approvals);
  expect(() => admitted(entries, MUTE, OPTIONS)).toThrow('less approval');
});

test('every name, address and login that has driven the run is a requester; a person who withdrew an approval is not', () => {
  const who = { ...WHO, name: 'marian', email: 'm@acme.com', login: 'ops' };
  const entries = entriesOf(
    ['run.started', started(ASKS)],
    ['run.resumed', { pid: 1, who }, 'marian'],
    ['approval.withdrawn', { challenge: 'x', approver: 'bob', reason: 'no' }, 'bob'],
  );
  expect(begunOf(entries).requesters.toSorted()).toEqual(['alice', 'm@acme.com', 'marian', 'ops', 'root']);
});

test.for([
  ['the login of the process that began it', { login: 'bob' }],
  ['an address that the config had then', { email: 'bob@acme.com' }],
] as const)('%s approves nothing, whatever the operator is called now', async ([, was], context) => {
  const at = someConfirmation(context);
  Object.assign(at.entries[0] ?? {}, { body: started({ ...ASKS, who: { ...WHO, ...was } }) as Json });
  at.lay(at.bob.sign(at.asked().text));
  context.expect((await at.confirm()).code).toBe('approval.same-person');
});

test('only a key that was listed at the beginning can approve, and not after it was removed', async (context) => {
  const at = someConfirmation(context);
  const eve = somePeople(context).person('eve@acme.com');
  const signers = await keptSigners(at.signers);
  context.expect(signers.people).toMatchObject([{ names: 'bob@acme.com' }]);
  const approvals = { ...ASKS.approvals, signers };
  Object.assign(at.entries[0] ?? {}, { body: started({ who: WHO, approvals }) as unknown as Json });
  writeFileSync(at.signers, `# more\n${eve.line()}${at.bob.line()}`);
  at.lay(eve.sign(at.asked().text));
  const late = await at.gate.check(at.state(), { event: at.plan.event, typed: 'orders' });
  context.expect(late.refusal?.shortMessage).toContain('was not in the file of allowed signers when the run');
  // The same key on another line is another line.
  writeFileSync(at.signers, at.bob.line());
  at.lay(at.bob.sign(at.asked().text));
  writeFileSync(at.signers, eve.line());
  context.expect((await at.confirm()).code).toBe('approval.refused');
  writeFileSync(at.signers, `${eve.line()}${at.bob.line()}`);
  context.expect((await at.confirm()).code).toBeUndefined();
});

test('a request is valid for no longer than it would have been at the beginning', (context) => {
  const at = someConfirmation(context);
  Object.assign(at.entries[0] ?? {}, { body: started(ASKS) as unknown as Json });
  at.arrive();
  const { asked, expires } = Object.fromEntries(
    at
      .asked()
      .text.split('\n')
      .map((line) => line.split(/: (.*)/s)),
  ) as Record<string, string>;
  context.expect(Date.parse(expires ?? '') - Date.parse(asked ?? '')).toBe(60_000);
  context.expect(EXPIRES_MS).toBeGreaterThan(60_000);
});

test('a key that was removed from a list of revoked keys, text or binary, is noticed', async (context) => {
  const people = somePeople(context);
  const [ada, bob] = [people.person('ada'), people.person('bob')];
  const policy = async (path: string) => ({ ...ASKS.approvals, revoked: await keptRevoked(path) });
  const text = await policy(people.file('text', `# gone\n${ada.publicKey}\n`));
  const both = await policy(people.file('both', `${bob.publicKey}\n${ada.publicKey}\n`));
  expect(weakenings(text, both)).toEqual([]);
  expect(weakenings(both, text)).toHaveLength(1);
  const list = async (name: string, ...of: (typeof ada)[]) => {
    const path = people.file(name, '');
    const made = await sshKeygen(['-k', '-f', path, ...of.map(({ keyFile }) => `${keyFile}.pub`)], '');
    expect(made.code, made.stderr).toBe(0);
    return policy(path);
  };
  const [one, two] = [await list('one', ada), await list('two', bob, ada)];
  expect(weakenings(one, two)).toEqual([]);
  expect(weakenings(two, one)).toHaveLength(1);
});
