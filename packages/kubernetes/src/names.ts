import { BadRequest, type EngineHost } from '@strongroom/engine-sdk';
import { compileTemplate } from '@strongroom/go-template';

const DEFAULT_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (unix_time) (random 24) | truncate 62 | lowercase }}';

/** The name of the objects of one credential. What no name of Kubernetes may hold becomes `-` before it reaches the template. @throws BadRequest */
export function objectName(host: EngineHost, template: string, displayName: string, roleName: string): string {
  let name: string;
  try {
    const compiled = compileTemplate(template || DEFAULT_TEMPLATE, {
      fields: ['DisplayName', 'RoleName'],
      typeName: 'kubesecrets.nameMetadata',
    });
    name = compiled.render(
      { DisplayName: safeName(displayName), RoleName: safeName(roleName) },
      { now: () => host.clock.now(), randomBytes: (count) => host.randomBytes(count) },
    );
  } catch (error) {
    throw new BadRequest(`unable to initialize name template: ${(error as Error).message}`);
  }
  if (!/^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) {
    throw new BadRequest(
      `name_template gives ${JSON.stringify(name)}, which is no name of Kubernetes: at most 253 lower-case letters, digits, "-" and ".", with a letter or digit at both ends`,
    );
  }
  return name;
}

function safeName(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
}
