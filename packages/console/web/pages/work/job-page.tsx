import { useRead } from '../../api/queries.ts';
import type { JobDetails } from '../../api/work.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Facts } from '../../parts/facts.tsx';
import { FailingThing } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { pageOfThing } from '../../parts/thing-page.ts';
import { To } from '../../parts/to.tsx';

/** One job of any engine. */
export default function JobPage() {
  const { mount = '', kind = '', id = '' } = usePlace().search;
  const job = useRead<JobDetails>('sys/internal/ui/job', { query: { mount, kind, id } });
  const data = job.data?.data;
  const title = data?.name ? `${data.noun ?? data.kind} ${data.name}` : `${kind} ${id}`;
  return (
    <Page title={title} crumbs={[<To to="/work">Work</To>, mount]}>
      <FailingThing mount={mount} kind={kind} id={id} />
      <Loaded query={job}>
        {({ data: { mount: at, mount_type: type, path, job: key } }) => (
          <>
            <Facts
              facts={[
                { label: 'Mount', value: at },
                { label: 'Kind of job', value: kind },
                { label: 'Id', value: id },
                { label: 'For', value: path === null ? '' : <To {...pageOfThing(at, type, path)}>{path}</To> },
              ]}
            />
            <CommandLines lines={[{ with: 'CLI', command: `strongroom write sys/schedule/run job='${key}'` }]} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
