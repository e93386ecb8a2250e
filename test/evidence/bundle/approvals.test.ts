import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMESPACE } from '../../../src/approvals/ssh-signature.ts';
import { approvalProblems } from '../../../src/commands/audit/check-approvals.ts';
import { approvalFiles } from '../../../src/evidence/bundle/approvals.ts';
import { runEntry } from '../../../src/journal/run-entries.ts';

const noOpenSsh = spawnSync('ssh-keygen', ['-?']).error !== undefined && process.env['CI'] === undefined;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-approvals-'));
const CHALLENGE = '00112233445566ff';
const TEXT = 'restore backup 7 into orders\n';
let files: ReadonlyMap<string, Buffer>;

beforeAll(() => {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'kim', '-f', key]);
  const signature = execFileSync('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE], {
    input: TEXT,
    stdio: 'pipe',
  });
  const [type = '', base64 = ''] = readFileSync(`${key}.pub`, 'utf8').split(' ');
  const asked = runEntry('a', 'approval.asked', {
    challenge: CHALLENGE,
    text: TEXT,
    target: 'orders',
    order: 'restore',
    plan: '0'.repeat(64),
    requester: 'Robin',
    expiresAt: '2026-01-01T00:00:00.000Z',
  });
  const given = runEntry('a', 'approval.given', {
    challenge: CHALLENGE,
    approver: 'kim@example.com',
    key: 'SHA256:x',
    publicKey: `${type} ${base64}`,
    signature: signature.toString('utf8'),
    method: 'ssh',
    allowedSigners: '0'.repeat(64),
  });
  files = approvalFiles([asked, given].map((entry, at) => ({ ...entry, seq: at + 1 })));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problems = async (changed: ReadonlyMap<string, Buffer>) =>
  (await approvalProblems(changed, () => undefined)).map(({ shortMessage }) => shortMessage);

describe.skipIf(noOpenSsh)('approvals in a bundle', () => {
  test('are what was asked, the signature, and who signed', () => {
    expect([...files.keys()]).toEqual([
      `approvals/${CHALLENGE}.txt`,
      `approvals/${CHALLENGE}.2.sig`,
      `approvals/${CHALLENGE}.2.signer`,
    ]);
    expect(String(files.get(`approvals/${CHALLENGE}.txt`))).toBe(TEXT);
  });

  test('are verified by OpenSSH', async () => {
    expect(await problems(files)).toEqual([]);
  });

  test.each([
    ['text', `approvals/${CHALLENGE}.txt`, 'restore backup 8 into orders\n'],
    ['signature', `approvals/${CHALLENGE}.2.sig`, 'no signature\n'],
    ['key', `approvals/${CHALLENGE}.2.signer`, 'kim@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA\n'],
    ['option for a name', `approvals/${CHALLENGE}.2.signer`, '-oProxyCommand=x ssh-ed25519 AAAA\n'],
  ])('with another %s do not verify', async (_what, name, text) => {
    expect(await problems(new Map([...files, [name, Buffer.from(text)]]))).toEqual([
      `approvals/${CHALLENGE}.2.sig does not verify`,
    ]);
  });
});
