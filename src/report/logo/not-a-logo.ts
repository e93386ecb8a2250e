/** A file is no logo. The message says why, as the end of a sentence. */
export class NotALogo extends Error {}
