/**
 * The entries of a stream that no head saw which was signed before the bundle was made, in words; undefined when there are none. The heads of a bundle sign them
 * too, but only as they were found then.
 */
export function lateEntries(stream: string, signedTo: number, last: number): string | undefined {
  if (signedTo >= last) return undefined;
  return signedTo + 1 === last
    ? `entry ${last} of ${stream} was signed only when this bundle was made`
    : `entries ${signedTo + 1} to ${last} of ${stream} were signed only when this bundle was made`;
}
