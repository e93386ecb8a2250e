import canonicalize from 'canonicalize';
import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { Fingerprint } from '../store/projections/key-epochs.ts';
import { ARMOUR, openText, sealText } from './escrow-copy.ts';
import type { KeyBundle } from './key-store.ts';

/*
 * Keys on their way to another machine: one armoured age file (age-encryption.org/v1) with the canonical JSON
 * (RFC 8785) of the keys, their fingerprint secrets and, if wanted, the person's age identity.
 */

const VERSION = /^lifeboat\.keys\/(\d+)$/u;
const FORMAT = 'lifeboat.keys/1';

const Contents = z.object({
  format: z.literal(FORMAT),
  keys: z.array(z.object({ instance: z.string().min(1), fingerprint: Fingerprint, key: z.string().min(1) })),
  fingerprintSecrets: z.array(z.string().min(1)),
  identity: z.string().min(1).optional(),
});

export interface KeyFile extends KeyBundle {
  /** Of the person whose key store it was. */
  readonly identity?: Secret | undefined;
}

export const MAX_KEY_FILE_BYTES = 8 * 1024 * 1024;

/** Recipients, or anyone with the passphrase. */
export type SealedTo = readonly string[] | Secret;
/** Identities, or the passphrase. */
export type OpenedBy = readonly Secret[] | Secret;

/** Armoured. Rejects with `escrow.bad-recipient`. */
export async function sealKeyFile(file: KeyFile, to: SealedTo): Promise<string> {
  const { keys, fingerprintSecrets, identity } = file;
  const text = canonicalize({
    format: FORMAT,
    keys: keys.map((one) => ({ ...one, key: one.key.reveal() })),
    fingerprintSecrets: fingerprintSecrets.map((secret) => secret.reveal()),
    ...(identity === undefined ? {} : { identity: identity.reveal() }),
  });
  if (text === undefined) throw new TypeError('a key file is always an object');
  const sealed = await sealText(text, to);
  return sealed.endsWith('\n') ? sealed : `${sealed}\n`;
}

/** Rejects with `escrow.not-for-you`, `escrow.damaged`, or `keys.newer-file`; errors name it `named`. */
export async function openKeyFile(sealed: string, by: OpenedBy, named: string): Promise<KeyFile> {
  const found = parsed(await openText(sealed, by, named));
  const version = VERSION.exec(z.object({ format: z.string() }).safeParse(found).data?.format ?? '')?.[1];
  if (version !== undefined && version !== '1')
    throw new LifeboatError('keys.newer-file', `${named} is of version ${version.slice(0, 9)}`, {
      hints: ['nothing was stored', 'open it with the newer lifeboat that wrote it'],
    });
  const read = Contents.safeParse(found);
  if (!read.success)
    throw new LifeboatError('escrow.damaged', `${named} opens, but holds no keys`, {
      hints: ['nothing was stored', '`lifeboat keys export FILE` writes such a file'],
    });
  const { keys, fingerprintSecrets, identity } = read.data;
  return {
    keys: keys.map(({ key, ...named }) => ({ ...named, key: new Secret(key) })),
    fingerprintSecrets: fingerprintSecrets.map((secret) => new Secret(secret)),
    identity: identity === undefined ? undefined : new Secret(identity),
  };
}

/**
 * By the header: only such a file has the scrypt stanza (age-encryption.org/v1). Throws `escrow.damaged` if
 * it is not an armoured age file.
 */
export function isUnderPassphrase(sealed: string, named: string): boolean {
  const [begin, first = ''] = sealed.trim().split(/\r?\n/u);
  if (begin === ARMOUR) return Buffer.from(first, 'base64').toString('latin1').includes('\n-> scrypt ');
  throw new LifeboatError('escrow.damaged', `${named} is no armoured age file`, {
    hints: ['nothing was stored', '`lifeboat keys export FILE` writes such a file'],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
