/** Who confirms: as the config names the operator. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
}

/**
 * Whether one of the names of a signer is the operator, or whoever asked, in whatever case. Where only one of the two is an address,
 * what stands before its @ is compared.
 */
export function isSamePerson(
  principals: readonly string[],
  requesters: readonly (string | undefined)[],
  { name, email }: Operator,
): boolean {
  const own = new Set([...requesters, name, email].flatMap((word) => (word ? [folded(word)] : [])));
  const ownBefore = new Set([...own].map(beforeAt));
  return principals.map(folded).some((principal) => {
    if (own.has(principal)) return true;
    if (!principal.includes('@')) return ownBefore.has(principal);
    return email === undefined && own.has(beforeAt(principal));
  });
}

function beforeAt(name: string): string {
  return name.split('@', 1)[0] ?? '';
}

function folded(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}
