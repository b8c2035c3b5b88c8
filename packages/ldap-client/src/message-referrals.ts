import { elementAt, headOf } from './message-controls.ts';

const referralTag = 0xa3;
const referenceTag = 0x73;

/**
 * The URLs of a result's referral, or of a search result reference. ldapjs reads those of a result only as far as their length is more than their place
 * in the message. Throws when the bytes are no LDAP message.
 */
export function referralsIn(message: Buffer): string[] {
  const { operation } = headOf(message);
  if (operation.tag === referenceTag) return textsIn(message, operation.start, operation.end);
  for (let at = operation.start; at < operation.end;) {
    const part = elementAt(message, at, operation.end);
    if (part.tag === referralTag) return textsIn(message, part.start, part.end);
    at = part.end;
  }
  return [];
}

function textsIn(message: Buffer, start: number, end: number): string[] {
  const texts: string[] = [];
  for (let at = start; at < end;) {
    const text = elementAt(message, at, end);
    texts.push(message.toString('utf8', text.start, text.end));
    at = text.end;
  }
  return texts;
}
