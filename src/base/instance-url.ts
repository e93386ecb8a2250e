interface InstanceUrl {
  readonly url: URL;
  /** The path before the instance; empty, or beginning with a slash. */
  readonly prefix: string;
  readonly id: string;
}

const PATH = /^(?<prefix>(?:\/[^/]+)*)\/(?:service-instances|v1\/instances)\/(?<id>[\w.~-]+)\/?$/u;

/** Compares ids only: a service may move to another address. Undefined if one address is unreadable. */
export function isSameInstance(one: string, other: string): boolean | undefined {
  const [id, otherId] = [idOfInstance(one), idOfInstance(other)];
  return id === undefined || otherId === undefined ? undefined : id === otherId;
}

/** Normalized: two names with the same id are one instance. Undefined for any other text. */
export function idOfInstance(url: string): string | undefined {
  const read = readInstanceUrl(url);
  return typeof read === 'string' ? undefined : read.id.toLowerCase();
}

/**
 * The parts of an instance's URL, or why the text is invalid, as the end of a sentence that never repeats it.
 * Config and client share it, so both accept the same addresses.
 */
export function readInstanceUrl(text: string): InstanceUrl | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an http address';
  if (url.username !== '' || url.password !== '') return 'holds credentials';
  if (url.search !== '' || url.hash !== '') return 'has a query or a fragment';
  const { prefix, id } = PATH.exec(url.pathname)?.groups ?? {};
  return prefix === undefined || id === undefined ? 'does not name an instance' : { url, prefix, id };
}
