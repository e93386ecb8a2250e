import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

// Signs by hand: the key is in the key store, and ssh-keygen, which verifies, reads keys only from a file.

/*
 * Signatures in OpenSSH's format (PROTOCOL.sshsig), as `ssh-keygen -Y verify` accepts them. A string is a
 * four-byte length and its bytes.
 */

/** A signature made for anything else never counts. */
export const NAMESPACE = 'lifeboat-approval';
/** Bytes, far above those of an RSA key of 16384 bits with a certificate. */
export const MAX_SIGNATURE_BYTES = 64 * 1024;

const MAGIC = Buffer.from('SSHSIG');
const VERSION = Buffer.of(0, 0, 0, 1);
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';

/** Armored; as `ssh-keygen -Y sign -n lifeboat-approval` with an ed25519 key (PKCS#8 PEM). */
export function signText(text: string, privateKeyPem: Secret): string {
  const privateKey = privateKeyOf(privateKeyPem);
  const parts = [NAMESPACE, '', 'sha512'];
  const digest = hash('sha512', text, 'buffer');
  const signed = Buffer.concat([MAGIC, ...parts.map(string), string(digest)]);
  const signature = Buffer.concat([string('ssh-ed25519'), string(sign(null, signed, privateKey))]);
  const publicKey = publicBlob(createPublicKey(privateKey));
  const blob = Buffer.concat([MAGIC, VERSION, string(publicKey), ...parts.map(string), string(signature)]);
  return `${[BEGIN, ...(blob.toString('base64').match(/.{1,70}/g) ?? []), END].join('\n')}\n`;
}

/** The public half of a signing key in OpenSSH's format, `ssh-ed25519 AAAA...`, and its fingerprint. */
export function publicKeyOf(privateKeyPem: Secret): {
  readonly publicKey: string;
  readonly fingerprint: string;
} {
  const key = publicBlob(createPublicKey(privateKeyOf(privateKeyPem)));
  return { publicKey: wordsOf(key), fingerprint: fingerprintOf(key) };
}

/** Restores the line ends that ssh-keygen reads: mail and editors may change them. */
export function unixArmor(text: string): string {
  return `${text.replace(MARK, '').replace(/\r\n?/g, '\n').trimEnd()}\n`;
}

/** A byte order mark, decoded as UTF-8 or byte by byte. */
const MARK = /^(?:\ufeff|\u00ef\u00bb\u00bf)/;

/** The signer, with the fingerprint of `ssh-keygen -l`; undefined if it is no signature. Verifies nothing. */
export function signerOf(
  armored: string,
): { readonly publicKey: string; readonly fingerprint: string } | undefined {
  const body = new RegExp(`^${BEGIN}\\s([A-Za-z0-9+/=\\s]+)${END}\\s*$`).exec(armored)?.[1];
  const blob = Buffer.from(body ?? '', 'base64');
  // The version is the only field that the signature does not cover.
  if (!blob.subarray(0, 10).equals(Buffer.concat([MAGIC, VERSION]))) return undefined;
  const key = readString(blob, 10);
  if (key === undefined || readString(key, 0) === undefined) return undefined;
  return { publicKey: wordsOf(key), fingerprint: fingerprintOf(key) };
}

export function fingerprintOfBlob(base64: string): string {
  return fingerprintOf(Buffer.from(base64, 'base64'));
}

/** `SHA256:` and the digest of the key (a certificate: of all of it) in base64 without padding. */
function fingerprintOf(key: Buffer): string {
  return `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`;
}

function wordsOf(key: Buffer): string {
  const type =
    readString(key, 0)
      ?.toString('latin1')
      .replace(/[^\x21-\x7e]/g, '?') ?? '';
  return `${type.slice(0, 80)} ${key.toString('base64')}`;
}

function privateKeyOf(pem: Secret): KeyObject {
  try {
    const key = createPrivateKey(pem.reveal());
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The parser's error may quote its input, so it must not become the cause.
  }
  throw new LifeboatError('evidence.bad-key', 'the signing key in the key store is not an ed25519 key');
}

function publicBlob(key: KeyObject): Buffer {
  const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  return Buffer.concat([string('ssh-ed25519'), string(raw)]);
}

function string(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function readString(bytes: Buffer, at: number): Buffer | undefined {
  if (at + 4 > bytes.length) return undefined;
  const end = at + 4 + bytes.readUInt32BE(at);
  return end > bytes.length ? undefined : bytes.subarray(at + 4, end);
}

const TIMEOUT_MS = 20_000;
const OUTPUT_LIMIT = 64 * 1024;

export interface SshKeygenEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs OpenSSH's `ssh-keygen` with the text on standard input. Rejects with `approval.unchecked` if it is not
 * installed or takes too long. `patient`: it may ask for a passphrase or a touch, without a time limit.
 */
export function sshKeygen(
  args: readonly string[],
  input: string,
  { patient = false }: { readonly patient?: boolean } = {},
): Promise<SshKeygenEnd> {
  const child = spawn('ssh-keygen', args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: sshSurroundings(),
    windowsHide: true,
    ...(patient ? {} : { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const }),
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      if (said[name].length < OUTPUT_LIMIT) said[name] += text;
    });
  // A verifier may stop before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(missing(cause)));
    child.once('close', (code, signal) => {
      if (signal === null) resolve({ code, ...said });
      else reject(new LifeboatError('approval.unchecked', `ssh-keygen was ended by ${signal}`));
    });
  });
}

/** What ssh-keygen needs to run and to reach an agent and a person; withholds variables with tokens. */
export function sshSurroundings(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => NEEDED.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|TERM|TZ|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|SSH_\w+|SystemRoot|USERPROFILE|TEMP)$/i;

/** Rejects with `approval.unchecked` if ssh-keygen is missing or cannot verify signatures. */
export async function sshKeygenWorks(): Promise<string> {
  // There is no version flag; an unknown action prints the usage, which lists -Y if supported.
  const { stderr } = await sshKeygen(['-?'], '');
  if (stderr.includes('-Y verify')) return 'ssh-keygen can verify signatures';
  throw new LifeboatError('approval.unchecked', 'this ssh-keygen cannot verify signatures', {
    hints: ['OpenSSH 8.2 or newer is needed'],
    evidence: { error: show(stderr.split('\n')[0] ?? '') },
  });
}

function missing(cause: Error & { readonly code?: string }): LifeboatError {
  const what = cause.code === 'ENOENT' ? 'ssh-keygen is not on this machine' : 'ssh-keygen cannot be started';
  return new LifeboatError('approval.unchecked', `${what}, so no signature can be checked or made`, {
    hints: ['install the client of OpenSSH (8.2 or newer), then try again', 'nothing was sent'],
    cause,
  });
}
