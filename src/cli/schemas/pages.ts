import { PAGES } from '../../serve/page.ts';
import { schema } from './result.ts';

export const pages = {
  'page-board': schema(
    'page-board',
    'the board of `serve`: what is under way and waits',
    PAGES['page-board'],
  ),
  'page-run': schema('page-run', 'the page of a run', PAGES['page-run']),
  'page-plan': schema('page-plan', "the page of a plan's run, with each instance", PAGES['page-plan']),
  'page-evaluation': schema(
    'page-evaluation',
    'the page of the evaluations on record',
    PAGES['page-evaluation'],
  ),
  'page-drills': schema('page-drills', 'the page of the drills of a home', PAGES['page-drills']),
};
