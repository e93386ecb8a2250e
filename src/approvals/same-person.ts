/** Who confirms: as the config names the operator. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
}

/**
 * Whether one of the names of a signer is the operator, or whoever asked, in whatever case. An operator without an email in the config is
 * also recognised by what stands before the @ of a signer's address.
 */
export function isSamePerson(
  principals: readonly string[],
  requesters: readonly (string | undefined)[],
  { name, email }: Operator,
): boolean {
  const own = new Set([...requesters, name, email].flatMap((word) => (word ? [folded(word)] : [])));
  return principals.map(folded).some((principal) => {
    if (own.has(principal)) return true;
    return email === undefined && own.has(principal.split('@')[0] ?? '');
  });
}

function folded(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}
