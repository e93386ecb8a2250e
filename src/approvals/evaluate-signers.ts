import { NAMESPACE } from './ssh-signature.ts';

/** A line of an allowed-signers file that a person should look at. */
export interface SignersFinding {
  /** Counted from one. */
  readonly line: number;
  /** The problem, to follow the line number. */
  readonly says: string;
}

/**
 * Unintended effects of the lines of an allowed-signers file (ssh-keygen(1)): keys for any purpose, patterns,
 * authorities without an end, and expired lines. `canApprove` says whether at least one line could approve at
 * `now`. Pure; lines that ssh-keygen would not read are ignored.
 */
export function evaluateSigners(
  text: string,
  now: Date,
): { readonly findings: readonly SignersFinding[]; readonly canApprove: boolean } {
  const lines = text.split('\n').flatMap((line, at) => {
    const entry = entryOf(line.trim());
    return entry === undefined ? [] : [{ line: at + 1, ...evaluate(entry, now) }];
  });
  return {
    findings: lines.flatMap(({ line, says }) => says.map((one) => ({ line, says: one }))),
    canApprove: lines.some((line) => line.canApprove),
  };
}

interface SignersEntry {
  readonly names: readonly string[];
  readonly isAuthority: boolean;
  /** Undefined for every purpose. */
  readonly namespaces: readonly string[] | undefined;
  readonly validAfter: string | undefined;
  readonly validBefore: string | undefined;
}

function evaluate(entry: SignersEntry, now: Date): { says: readonly string[]; canApprove: boolean } {
  const { names, isAuthority, namespaces, validAfter, validBefore } = entry;
  const isForAll = namespaces === undefined || namespaces.some(matchesAny);
  // A line only for other purposes intentionally approves nothing.
  if (!isForAll && !namespaces.some((pattern) => matches(pattern, NAMESPACE)))
    return { says: [], canApprove: false };
  if (hasPassed(validBefore, now))
    return { says: ['has expired (valid-before): that key approves nothing any more'], canApprove: false };
  if (validAfter !== undefined && !hasPassed(validAfter, now))
    return { says: ['is not valid yet (valid-after): that key approves nothing now'], canApprove: false };
  if (!isAuthority && names.some(isPattern))
    return {
      says: ['has a wildcard for a name, and wildcard entries are ignored: that key approves nothing'],
      canApprove: false,
    };
  const says = [
    ...(isForAll ? ['names no namespaces, so a key that is listed for something else approves as well'] : []),
    ...(isAuthority && names.some(matchesAny)
      ? ['accepts any name: anyone with a certificate of that authority can approve']
      : []),
    ...(isAuthority && validBefore === undefined ? ['is an authority without an expiry (valid-before)'] : []),
  ];
  return { says, canApprove: true };
}

/** Principals, options, key type; undefined for a comment and for an invalid line. */
function entryOf(line: string): SignersEntry | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const [, quoted, bare = '', options = ''] =
    /^(?:"([^"]*)"|(\S+))\s+(?:((?:"[^"]*"|[^\s"])+)\s+)??(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+\s+[A-Za-z0-9+/]/.exec(
      line,
    ) ?? [];
  const names = (quoted ?? bare).split(',').filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const option = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`, 'i').exec(options)?.[1];
  return {
    names,
    isAuthority: /(?:^|,)cert-authority(?:,|$)/i.test(options),
    namespaces: option('namespaces')?.split(','),
    validAfter: option('valid-after'),
    validBefore: option('valid-before'),
  };
}

function isPattern(name: string): boolean {
  return /[*?!]/.test(name);
}

/** A pattern that matches everything: `*`, `?*`, `*@*`. */
function matchesAny(pattern: string): boolean {
  return pattern.includes('*') && /^[*?@.]+$/.test(pattern);
}

/** OpenSSH's pattern matching: `*` for anything, `?` for one character. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(text);
}

/**
 * A time as written in such files: `20261121`, `202611210300` or with seconds, in this machine's zone unless
 * a `Z` follows.
 */
function hasPassed(text: string | undefined, now: Date): boolean {
  const found = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/i.exec(text ?? '');
  if (found === null) return false;
  const [year = 0, month = 1, day = 1, hour, minute, second] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const parts = [year, month - 1, day, hour ?? 0, minute ?? 0, second ?? 0] as const;
  const at = found[7] === '' ? new Date(...parts).getTime() : Date.UTC(...parts);
  return at <= now.getTime();
}
