import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { EvaluationStatement } from './evaluation-statement.ts';
import { Statement } from './statement.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const MEDIA_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const Base64 = z.base64().min(1);

/** A Sigstore bundle v0.3 with one DSSE signature by a key, and nothing of a transparency log. */
const Bundle = z.strictObject({
  mediaType: z.literal(MEDIA_TYPE),
  verificationMaterial: z.strictObject({
    publicKey: z.strictObject({ hint: Base64 }),
    tlogEntries: z.array(z.never()),
    timestampVerificationData: z.strictObject({ rfc3161Timestamps: z.array(z.never()) }),
  }),
  dsseEnvelope: z.strictObject({
    payload: Base64,
    payloadType: z.literal(PAYLOAD_TYPE),
    signatures: z.tuple([z.strictObject({ sig: Base64, keyid: z.literal('') })]),
  }),
});

const Stated = z.discriminatedUnion('predicateType', [Statement, EvaluationStatement]);
export type Stated = z.infer<typeof Stated>;

export interface SignedReceipt {
  /** The Sigstore bundle, for cosign and the libraries of Sigstore. */
  readonly bundle: string;
  /** What the signature covers, and the signature in DER, for `openssl dgst -sha256 -verify`. */
  readonly pae: Buffer;
  readonly signature: Buffer;
}

/** Signs a statement with a P-256 key (PKCS#8 PEM). Throws `receipt.bad-key` for any other key. */
export function signStatement(statement: Stated, privateKeyPem: Secret): SignedReceipt {
  const key = privateKeyOf(privateKeyPem);
  const payload = Buffer.from(JSON.stringify(statement));
  const pae = paeOf(payload);
  const signature = sign('sha256', pae, key);
  const bundle: z.infer<typeof Bundle> = {
    mediaType: MEDIA_TYPE,
    verificationMaterial: {
      publicKey: { hint: hintOf(createPublicKey(key)) },
      tlogEntries: [],
      timestampVerificationData: { rfc3161Timestamps: [] },
    },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType: PAYLOAD_TYPE,
      signatures: [{ sig: signature.toString('base64'), keyid: '' }],
    },
  };
  return { bundle: JSON.stringify(bundle), pae, signature };
}

/** The public half of a receipt key, PEM (SubjectPublicKeyInfo). Throws `receipt.bad-key`. */
export function receiptPublicKey(privateKeyPem: Secret): string {
  return createPublicKey(privateKeyOf(privateKeyPem)).export({ type: 'spki', format: 'pem' }).toString();
}

export type ReadReceipt =
  | ({ readonly outcome: 'signed'; readonly statement: Stated } & Omit<SignedReceipt, 'bundle'>)
  | { readonly outcome: 'bad-key' | 'unreadable' | 'other-key' | 'bad-signature' | 'no-receipt' };

/** Reads a bundle signed by this key (from elsewhere). Does not compare files with subjects. Never throws. */
export function openReceipt(bundleText: string, publicKeyPem: string): ReadReceipt {
  const key = publicKeyOf(publicKeyPem);
  if (key === undefined) return { outcome: 'bad-key' };
  const bundle = Bundle.safeParse(jsonOf(bundleText)).data;
  if (bundle === undefined) return { outcome: 'unreadable' };
  if (bundle.verificationMaterial.publicKey.hint !== hintOf(key)) return { outcome: 'other-key' };
  const { payload, signatures } = bundle.dsseEnvelope;
  const bytes = Buffer.from(payload, 'base64');
  const [pae, signature] = [paeOf(bytes), Buffer.from(signatures[0].sig, 'base64')];
  if (!verify('sha256', pae, key, signature)) return { outcome: 'bad-signature' };
  const statement = Stated.safeParse(jsonOf(bytes.toString('utf8'))).data;
  return statement === undefined
    ? { outcome: 'no-receipt' }
    : { outcome: 'signed', statement, pae, signature };
}

/** The pre-authentication encoding of DSSE: no other type or text gives the same bytes. */
function paeOf(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Sigstore's libraries find a key by it; it proves nothing. */
function hintOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64');
}

function privateKeyOf(pem: Secret): KeyObject {
  try {
    const key = createPrivateKey(pem.reveal());
    if (isP256(key)) return key;
  } catch {
    // The parser's error may quote its input, so it must not become the cause.
  }
  throw new LifeboatError('receipt.bad-key', 'the receipt key in the key store is not a P-256 key', {
    hints: ['nothing was signed', 'restore it from a backup of the key store'],
  });
}

function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    // A private key would be taken as well, and does not belong into a verifier.
    const key = pem.includes('PRIVATE KEY') ? undefined : createPublicKey(pem);
    return key !== undefined && isP256(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isP256({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  return type === 'ec' && details?.namedCurve === 'prime256v1';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
