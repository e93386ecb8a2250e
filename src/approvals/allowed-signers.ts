/** A line that is longer is not kept: nobody would read it. */
const LINE_LIMIT = 8192;
/** How many lines of one key are looked at: each is tried on its own. */
const LINES_LIMIT = 32;

/**
 * The lines of a file of allowed signers (ssh-keygen(1)) that may be about a public key, without their line ends, and the names that the
 * key itself is listed under. For a certificate these are the lines of authorities.
 */
export function linesOfKey(
  allowed: string,
  publicKey: string,
): { readonly lines: readonly string[]; readonly names: readonly string[] } {
  const [type = '', blob = ''] = publicKey.split(' ');
  const isCertificate = type.includes('-cert-');
  const found = allowed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .filter((line) => (isCertificate ? /\scert-authority/i.test(line) : line.split(/\s+/).includes(blob)));
  const lines = found.filter(({ length }) => length <= LINE_LIMIT).slice(0, LINES_LIMIT);
  return { lines, names: isCertificate ? [] : found.flatMap(namesOf) };
}

/** The first field: names with commas between them, in quotes where one has a space. */
function namesOf(line: string): readonly string[] {
  const [, quoted, bare = ''] = /^(?:"([^"]*)"|(\S+))/.exec(line) ?? [];
  return (quoted ?? bare).split(',').filter((name) => name !== '');
}
