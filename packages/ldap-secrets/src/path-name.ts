import { BadRequest, f, type Field } from '@strongroom/engine-sdk';

/** The name of a role or set in a path: words that slashes divide, such as `org/team/app`. */
export function pathName(noun: string): Field<string> {
  return f.lowercase(`Name of the ${noun}. Slashes make folders: org/team/app.`, { required: true });
}

/** The words that other paths of the same kind begin and end with. */
export interface ReservedWords {
  readonly begins?: string;
  readonly ends: readonly string[];
}

/** @throws BadRequest for a name whose paths would be those of another role or set, or of something else that it has */
export function requireReachable(name: string, { begins, ends }: ReservedWords): void {
  const [first, ...others] = name.split('/');
  const refuse = (word: string, place: string): never => {
    throw new BadRequest(
      `name: ${JSON.stringify(name)} cannot be reached, because ${place} in a path is reserved; choose a word other than ${word}`,
    );
  };
  if (others.length > 0 && first === begins) refuse(begins!, `${begins!}/ at the beginning`);
  for (const word of others) if (ends.includes(word)) refuse(word, `/${word}`);
}
