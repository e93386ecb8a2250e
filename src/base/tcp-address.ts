/** `db.example.com:5432` or `[::1]:5432`; undefined if it is not HOST:PORT. Pure. */
export function tcpAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const { host, inner, port } =
    /^(?:\[(?<inner>.+)\]|(?<host>[^\s/]+)):(?<port>\d{1,5})$/u.exec(text)?.groups ?? {};
  const name = inner ?? host;
  const number = Number(port);
  return name === undefined || number < 1 || number > 65_535 ? undefined : { host: name, port: number };
}
