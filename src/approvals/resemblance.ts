/** The person who confirms: as named by the config, and by the system. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
  readonly login?: string | undefined;
}

/**
 * Whether a signer's name is that of the operator, or of a requester: `same` for the same address or name,
 * ignoring case and a plus tag, and for a bare name that is the local part of one of their addresses;
 * `namesake` for any other address with the same name (by name or login). A namesake may well be another
 * person, but a second address of the same person looks the same, and a false second person is worse than
 * having to make a name distinct. The local part of the operator's own address alone says nothing.
 */
export function resemblance(
  principal: string,
  requesters: readonly (string | undefined)[],
  { name, email, login }: Operator,
): 'same' | 'namesake' | undefined {
  const own = [...requesters, name, email, login].flatMap((word) => (word ? [folded(word)] : []));
  const listed = folded(principal);
  const local = beforeAt(listed);
  if (own.includes(listed)) return 'same';
  if (!listed.includes('@')) return own.map(beforeAt).includes(listed) ? 'same' : undefined;
  const bare = own.filter((word) => !word.includes('@'));
  const isCalledSo = bare.some(
    (word) => word === local || (letters(word) !== '' && letters(word) === letters(local)),
  );
  return isCalledSo ? 'namesake' : undefined;
}

function beforeAt(name: string): string {
  return name.split('@', 1)[0] ?? '';
}

/** Ignores case, other spellings of the same letters, and the tag that gives one mailbox many addresses. */
function folded(name: string): string {
  const plain = name.normalize('NFKC').trim().toLowerCase();
  const tag = /^([^@+]+)\+[^@]*(@.*)?$/s.exec(plain);
  return tag === null ? plain : `${tag[1]}${tag[2] ?? ''}`;
}

/** `Alice Smith` and `alice.smith` are one name. */
function letters(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '');
}
