import { BlockList, isIP } from 'node:net';

export interface IpNetwork {
  /** False for a host name: none is resolved. */
  has(host: string): boolean;
}

/** Takes CIDR notation or a single address. */
export function ipNetwork(text: string): IpNetwork | undefined {
  const [, address = '', given] = /^([^/]+)(?:\/(\d{1,3}))?$/u.exec(text) ?? [];
  const most = isIP(address) === 6 ? 128 : 32;
  const bits = Number(given ?? most);
  if (isIP(address) === 0 || bits > most) return undefined;
  const list = new BlockList();
  list.addSubnet(address, bits, familyOf(address));
  return { has: (host) => isIP(host) !== 0 && list.check(host, familyOf(host)) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** 0 if it is no IP address. */
export function ipVersion(text: string): 0 | 4 | 6 {
  return isIP(text) as 0 | 4 | 6;
}
