/** Who confirms: as the config names the operator, and as the machine knows them. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
  readonly login?: string | undefined;
}

/**
 * Whether a name of a signer is the operator's, or that of whoever asked: `same` for the same address or
 * name, whatever the case and whatever follows a plus sign in it, and for a bare name that stands before the
 * @ of one of their addresses; `namesake` for any other address that is called as they are (by name or
 * login). A namesake may well be somebody else, but an own second address looks the same, and a second pair
 * of eyes that is none costs more than a name that has to be made distinct. What stands before the @ of the
 * operator's own address, alone, says nothing.
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

/**
 * Without case, other ways to write the same letters, and the tag with which one mailbox has many addresses.
 */
function folded(name: string): string {
  const plain = name.normalize('NFKC').trim().toLowerCase();
  const tag = /^([^@+]+)\+[^@]*(@.*)?$/s.exec(plain);
  return tag === null ? plain : `${tag[1]}${tag[2] ?? ''}`;
}

/** `Alice Smith` and `alice.smith` are one name. */
function letters(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '');
}
