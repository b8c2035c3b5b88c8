/** What a certificate's subject says, by RFC 4514: `CN=…`. */
export function subjectOf(commonName: string): string {
  return `CN=${commonName.replace(/[\\,+"<>;=]/g, '\\$&').replace(/^[ #]| $/g, '\\$&')}`;
}
