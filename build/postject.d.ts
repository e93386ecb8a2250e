declare module 'postject' {
  /** Puts `data` into the executable `file` as the resource `name`. It changes the file in place. */
  export function inject(
    file: string,
    name: string,
    data: Buffer,
    options: { readonly sentinelFuse: string; readonly machoSegmentName: string },
  ): Promise<void>;
}
