/** The URL of an instance, taken apart. */
interface InstanceUrl {
  readonly url: URL;
  /** What stands before the instance in its path; empty, or with a slash at its beginning. */
  readonly prefix: string;
  readonly id: string;
}

const PATH = /^(?<prefix>(?:\/[^/]+)*)\/(?:service-instances|v1\/instances)\/(?<id>[\w.~-]+)\/?$/u;

/**
 * Whether two addresses are of one instance: by the id alone, since the address of a service may move, and
 * takes its instances along. Undefined where one of them cannot be read.
 */
export function isSameInstance(one: string, other: string): boolean | undefined {
  const [id, otherId] = [idOfInstance(one), idOfInstance(other)];
  return id === undefined || otherId === undefined ? undefined : id === otherId;
}

/**
 * What an address names its instance by, in one spelling: two names with one id are one instance. Undefined
 * for a text that is no address of one.
 */
export function idOfInstance(url: string): string | undefined {
  const read = readInstanceUrl(url);
  return typeof read === 'string' ? undefined : read.id.toLowerCase();
}

/**
 * The parts of an instance's URL, or why the text is none, as the end of a sentence that never repeats it.
 * Config and client ask the same: what one takes, the other opens.
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
