/** The kinds of questions that are made over a MOOC graph, as chains with words for them. Names stay as the graph writes them. */

/** One kind: `{}` stands for the topic, `{claimed}` for the claimed end of a statement. */
export interface QuestionForm {
  /** Relation names from the topic on, direction-qualified. */
  chain: readonly string[];
  query: string;
  statement: string;
}

/** One relation from topic to answer. */
export const oneHopForms: readonly QuestionForm[] = [
  {
    chain: ['concept_major'],
    query: 'which field does the concept {} belong to',
    statement: 'the concept {} belongs to the field {claimed}',
  },
  {
    chain: ['prerequisite_of'],
    query: 'which concepts require {} as a prerequisite',
    statement: 'the concept {} is a prerequisite of {claimed}',
  },
  {
    chain: ['~prerequisite_of'],
    query: 'which concepts are prerequisites of {}',
    statement: 'the concept {} has the prerequisite {claimed}',
  },
  {
    chain: ['school_offers_course'],
    query: 'which courses does the school {} offer',
    statement: 'the school {} offers the course {claimed}',
  },
  {
    chain: ['~school_offers_course'],
    query: 'which school offers the course {}',
    statement: 'the course {} is offered by the school {claimed}',
  },
  {
    chain: ['teacher_teaches_course'],
    query: 'which courses does the teacher {} teach',
    statement: 'the teacher {} teaches the course {claimed}',
  },
  {
    chain: ['~teacher_teaches_course'],
    query: 'which teachers teach the course {}',
    statement: 'the course {} is taught by the teacher {claimed}',
  },
];

/** Two relations from topic to the claimed end. */
export const multiHopForms: readonly QuestionForm[] = [
  {
    chain: ['teacher_teaches_course', '~school_offers_course'],
    query: 'which schools offer a course that the teacher {} teaches',
    statement: 'the teacher {} teaches a course that the school {claimed} offers',
  },
  {
    chain: ['school_offers_course', '~teacher_teaches_course'],
    query: 'which teachers teach a course that the school {} offers',
    statement: 'the school {} offers a course that the teacher {claimed} teaches',
  },
  {
    chain: ['teacher_teaches_course', '~teacher_teaches_course'],
    query: 'which teachers teach a course together with the teacher {}',
    statement: 'the teacher {} teaches a course together with the teacher {claimed}',
  },
  {
    chain: ['prerequisite_of', 'prerequisite_of'],
    query: 'which concepts build on a concept that requires {}',
    statement: 'the concept {} is a prerequisite of a prerequisite of {claimed}',
  },
  {
    chain: ['prerequisite_of', 'concept_major'],
    query: 'which fields hold a concept that requires {}',
    statement: 'the concept {} is a prerequisite of a concept of the field {claimed}',
  },
];
