/** Something that may be removed: a file or a folder of this home. */
export interface Removable {
  readonly kind: 'drill' | 'download' | 'home';
  readonly path: string;
  /** What it is, in a few words. */
  readonly what: string;
  /** When it was last of use. RFC 3339. */
  readonly at: string;
  readonly bytes: number;
  /** Removes it; throws what the system says. */
  remove(): void;
}
