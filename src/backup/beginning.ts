/** The first bytes of every encrypted backup (openssl-enc(1)); 8 bytes of salt follow. */
export const SALTED = Buffer.from('Salted__');

export const HEADER_BYTES = 16;

/** How much of a backup is needed to probe keys: the header, the salt and the first cipher block. */
export const PROBE_BYTES = 32;

export const BLOCK_BYTES = 16;

/** How many bytes `beginningOf` examines: a web page may begin with blank lines. */
export const BEGINNING_BYTES = 200;

/** The kind of a file, by its first bytes. `gzip` is an unencrypted backup, if it is a backup. */
export type Beginning = 'encrypted' | 'gzip' | 'html' | 'json' | 'empty' | 'unknown';

/** A file that ends inside `Salted__` counts as encrypted: it is the beginning of one. */
export function beginningOf(head: Uint8Array): Beginning {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (bytes.length === 0) return 'empty';
  const opening = bytes.subarray(0, SALTED.length);
  if (SALTED.subarray(0, opening.length).equals(opening)) return 'encrypted';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  // A byte-order mark counts as white space here.
  const text = bytes.subarray(0, BEGINNING_BYTES).toString('utf8').trimStart();
  if (text.startsWith('<')) return 'html';
  if (text.startsWith('{') || text.startsWith('[')) return 'json';
  return 'unknown';
}
