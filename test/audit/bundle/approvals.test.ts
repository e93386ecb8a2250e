import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMESPACE } from '../../../src/approvals/ssh-signature.ts';
import { approvalFiles } from '../../../src/audit/bundle/documents.ts';
import { signatureFindings } from '../../../src/commands/audit/check-approvals.ts';
import { runEntry } from '../../../src/store/run-entries.ts';

const noOpenSsh = spawnSync('ssh-keygen', ['-?']).error !== undefined && process.env['CI'] === undefined;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-approvals-'));
const CHALLENGE = '00112233445566ff';
const TEXT = 'restore backup 7 into orders\n';
const AT = '2026-01-01T00:00:00.000Z';
let files: ReadonlyMap<string, Buffer>;

beforeAll(() => {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'kim', '-f', key]);
  const signature = execFileSync('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE], {
    input: TEXT,
    stdio: 'pipe',
  });
  const [type = '', base64 = ''] = readFileSync(`${key}.pub`, 'utf8').split(' ');
  const listed = execFileSync('ssh-keygen', ['-l', '-f', `${key}.pub`], { encoding: 'utf8' });
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
    key: listed.split(' ')[1] ?? '',
    publicKey: `${type} ${base64}`,
    signature: signature.toString('utf8'),
    method: 'ssh',
    allowedSigners: '0'.repeat(64),
    allowedBy: `kim@example.com namespaces="${NAMESPACE}",valid-before="20260301" ${type} ${base64}`,
  });
  files = approvalFiles(
    [asked, given].map((entry, at) => ({
      ...entry,
      seq: at + 1,
      at: AT,
    })),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problems = (changed: ReadonlyMap<string, Buffer>) =>
  signatureFindings(changed, 'run/a').map(({ shortMessage }) => shortMessage);

describe.skipIf(noOpenSsh)('approvals in a bundle', () => {
  test('contain what was requested, the signature, and the signer', () => {
    expect([...files.keys()]).toEqual([
      `approvals/${CHALLENGE}.txt`,
      `approvals/${CHALLENGE}.2.sig`,
      `approvals/${CHALLENGE}.2.signer`,
    ]);
    expect(String(files.get(`approvals/${CHALLENGE}.txt`))).toBe(TEXT);
  });

  test('are verified by OpenSSH', async () => {
    expect(problems(files)).toEqual([]);
  });

  test('are verified as of their time, with system tools as the README says', () => {
    const paths = Object.fromEntries(
      [...files].map(([name, bytes]) => {
        const path = join(folder, name.replace('/', '-'));
        writeFileSync(path, bytes);
        return [name.split('.').at(-1), path];
      }),
    );
    const { sig = '', signer = '', txt = '' } = paths;
    const verify = (...more: string[]) =>
      spawnSync(
        'ssh-keygen',
        ['-Y', 'verify', ...more, '-f', signer, '-I', 'kim@example.com', '-n', NAMESPACE, '-s', sig],
        { input: readFileSync(txt) },
      ).status;
    expect(verify('-Overify-time=20260101000000')).toBe(0);
    expect(verify('-Overify-time=20270101000000')).not.toBe(0);
  });

  test('given with a certificate are verified by the line of its authority', async () => {
    const [authority, member] = [join(folder, 'authority'), join(folder, 'member')];
    for (const key of [authority, member])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
    execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'x', '-n', 'kim@example.com', `${member}.pub`]);
    const sign = ['-Y', 'sign', '-f', `${member}-cert.pub`, '-n', NAMESPACE];
    const signature = execFileSync('ssh-keygen', sign, { input: TEXT, stdio: 'pipe' });
    const listed = execFileSync('ssh-keygen', ['-l', '-f', `${member}.pub`], { encoding: 'utf8' });
    const head = `# approver: kim@example.com at ${new Date().toISOString()} with ${listed.split(' ')[1]}\n`;
    const line = `*@example.com cert-authority ${readFileSync(`${authority}.pub`, 'utf8')}`;
    const changed = new Map([
      ...files,
      [`approvals/${CHALLENGE}.2.sig`, signature],
      [`approvals/${CHALLENGE}.2.signer`, Buffer.from(`${head}${line}`)],
    ]);
    expect(problems(changed)).toEqual([]);
  });

  test.each([
    ['text', `approvals/${CHALLENGE}.txt`, 'restore backup 8 into orders\n'],
    ['signature', `approvals/${CHALLENGE}.2.sig`, 'no signature\n'],
    [
      'key',
      `approvals/${CHALLENGE}.2.signer`,
      `# approver: kim@example.com at ${AT} with SHA256:x\nkim@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA\n`,
    ],
    [
      'option for a name',
      `approvals/${CHALLENGE}.2.signer`,
      `# approver: -oProxyCommand=x at ${AT} with SHA256:x\n-oProxyCommand=x ssh-ed25519 AAAA\n`,
    ],
  ])('with another %s do not verify', async (_what, name, text) => {
    expect(problems(new Map([...files, [name, Buffer.from(text)]]))).toEqual([
      `approvals/${CHALLENGE}.2.sig does not verify`,
    ]);
  });
});
