"""Texts and records of simulated patients; all of it is invented.

Do not look here when you write keyword rules for these complaints. Each complaint also has a paraphrase in everyday
words without any medical term: the simulation is to test whether a reader still recognises it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Complaint:
    """The subject of a message, in plain words or paraphrased; `{since}` stands for how long it has been so.

    risks: conditions of the record that make this complaint more dangerous.
    """

    plain: tuple[str, ...]
    paraphrased: tuple[str, ...]
    risks: tuple[str, ...] = ()


RED_FLAGS = {
    "chest_pain_or_possible_arrhythmia": Complaint(
        ("I have had chest pain {since}, and it goes into my left arm.",
         "My heart has been racing with palpitations {since}, and my chest feels tight."),
        ("There has been what feels like an elephant sitting on my ribs {since}, and my arm aches along with it.",
         "Something in here has been fluttering like a trapped bird {since}, and it skips and then thumps."),
        ("Coronary artery disease", "Atrial fibrillation"),
    ),
    "respiratory_distress_or_wheezing": Complaint(
        ("I have been short of breath and wheezing {since}, even when I sit still.",
         "My breathing has been hard {since} and I cannot finish a sentence without stopping for breath."),
        ("I have not been getting enough air {since}; I sit up in the armchair because lying flat feels like drowning.",
         "There is a whistle every time I let air out {since}, and the few steps to the kitchen leave me puffing."),
        ("Chronic obstructive pulmonary disease", "Asthma", "Heart failure"),
    ),
    "new_neurologic_deficit": Complaint(
        ("My speech has been slurred {since} and my right hand is numb.",
         "One side of my face has been drooping {since} and I have double vision."),
        ("My words have been coming out like porridge {since}, and I keep dropping my coffee cup.",
         "My husband says my smile has been crooked {since}, and I see two of everything on the table."),
        ("Atrial fibrillation", "History of ischemic stroke"),
    ),
    "syncope_or_near_syncope": Complaint(
        ("I fainted in the bathroom and came to on the floor; I have felt light-headed {since}.",
         "I have nearly passed out every time I stood up {since}."),
        ("The lights went out for a moment and I found myself on the tiles; everything has felt far away {since}.",
         "Whenever I get up the room has been going grey at the edges {since} and I have to grab the wall."),
        ("Atrial fibrillation", "Heart failure", "Coronary artery disease"),
    ),
    "systemic_febrile_illness": Complaint(
        ("I have had a fever of 39.4 {since} with shaking chills.",
         "My temperature has been over 39 {since} and I feel very ill all over."),
        ("I have been burning up {since}, and then my teeth chatter so that the bed shakes.",
         "I have been soaking the sheets {since}, and I glow like a stove when my wife feels my forehead."),
        ("Lymphoma, on chemotherapy", "Kidney transplant", "Rheumatoid arthritis"),
    ),
    "new_bilateral_leg_edema": Complaint(
        ("Both of my legs have been swollen up to the knees {since}.",
         "I have had new swelling of both ankles {since}, and it does not go down when I lie down."),
        ("My shoes have not fitted {since}, on either foot, and my socks leave deep rings.",
         "If I press a thumb into my shins the dent stays there, left and right; it has been so {since}."),
        ("Heart failure", "Chronic kidney disease, stage 3"),
    ),
    "anaphylaxis_or_airway_allergy": Complaint(
        ("I was stung by a wasp, and {since} I have hives and my throat feels swollen.",
         "I have had an allergic reaction to the new antibiotic {since}; my lips and tongue are swelling."),
        ("I ate some nuts at a party, and {since} my mouth itches, my voice is hoarse and swallowing is a struggle.",
         "A bee got me in the garden, and {since} I am covered in itchy welts and my collar feels too tight."),
        ("Allergy to insect venom", "Asthma"),
    ),
    "significant_fall_or_trauma": Complaint(
        ("I fell down the stairs and hit my head; I have had a bad headache {since}.",
         "I had a fall in the kitchen and have not been able to put weight on my hip {since}."),
        ("The ladder slipped and the driveway came up to meet me; there is an egg on my temple, and it has throbbed "
         "{since}.",
         "I missed the last step in the dark and landed on my side; {since} I cannot stand on that leg."),
        ("Atrial fibrillation", "History of deep vein thrombosis", "Osteoporosis", "Parkinson disease"),
    ),
    "rapidly_spreading_rash": Complaint(
        ("I have a red rash that has been spreading quickly {since} and now covers my whole leg.",
         "My skin infection has been spreading {since}; the redness is past the line the nurse drew."),
        ("What was a small pink patch at breakfast has been creeping up {since} and by now it reaches my thigh, hot "
         "as an iron.",
         "The pen mark round the sore spot has long been swallowed {since}, and red streaks run up my arm."),
        ("Kidney transplant", "Type 2 diabetes mellitus", "Rheumatoid arthritis"),
    ),
    "possible_dehydration_or_poor_intake": Complaint(
        ("I have been vomiting {since} and cannot keep any fluids down; I have hardly passed urine.",
         "I have had severe diarrhea {since} and I feel dehydrated and weak."),
        ("Nothing has stayed in me {since}, not even a sip of water, and I have barely been to the toilet.",
         "It has been running straight through me {since}, my mouth is like cotton and I am wobbly on my feet."),
        ("Chronic kidney disease, stage 3", "Heart failure", "Type 2 diabetes mellitus"),
    ),
    "acute_neuromuscular_weakness": Complaint(
        ("My legs have been getting weaker {since} and I cannot climb stairs any more.",
         "I have had muscle weakness in both arms {since}, and now I have trouble swallowing."),
        ("My legs have felt like jelly {since}, and I had to be pulled out of the bath.",
         "My head has been too heavy to hold up {since}, and food goes down the wrong way."),
        ("Myasthenia gravis", "Parkinson disease"),
    ),
    "neck_stiffness_with_throat_symptoms": Complaint(
        ("I have had a very sore throat {since} and my neck is so stiff that I cannot bend it.",
         "My throat is swollen and I have had a stiff neck and trouble opening my mouth {since}."),
        ("It has been like swallowing glass {since}, and I cannot get my chin down to my chest.",
         "My jaw has hardly opened {since}, I drool on the pillow, and turning my head is out of the question."),
        ("Kidney transplant", "Lymphoma, on chemotherapy"),
    ),
    "new_unilateral_limb_symptom": Complaint(
        ("My left calf has been swollen, warm and painful {since}.",
         "I have had new swelling and pain in one leg {since}, after a long flight."),
        ("One of my legs has been twice as thick as the other {since}, and it is tight as a drum.",
         "My calf has cramped without letting go {since}, on one side only; it feels hot and looks purple."),
        ("History of deep vein thrombosis", "Lymphoma, on chemotherapy", "Recent knee replacement"),
    ),
}  # fmt: skip
"""Dangerous complaints, by their name in the paper's feature list (dt-pbo, Table 9)."""

BY_ACTIONABILITY = (
    {
        "thanks": Complaint(
            ("Thank you for calling me about my test results; nothing else is needed.",
             "I am feeling well again and wanted to thank the whole team."),
            ("You were right about the tea and the rest: I am back in the garden. That was all.",
             "Please pass a big hug to the nurse at the front desk, she made my week."),
        ),
        "records": Complaint(
            ("I have a new address and phone number, please update my chart.",
             "I had my flu shot at the pharmacy yesterday, please note it in my record."),
            ("We moved house in the spring, so letters should go to Elm Street from now on.",
             "The man at the drug store already gave me the jab for this winter, just so you know."),
        ),
        "forms": Complaint(
            ("The form from my employer has arrived, I no longer need the letter.",
             "I cancelled my appointment online because the specialist has already seen me."),
            ("The paper for my boss turned up after all, behind the sofa. You can forget about it.",
             "No need to keep my Thursday slot, the other office squeezed me in."),
        ),
    },
    {
        "over_the_counter": Complaint(
            ("Can I take ibuprofen for a headache together with my regular medicines?",
             "Is it safe to take melatonin with what I am on?"),
            ("There is a bottle of the orange pills from the supermarket here; do they get along with my others?",
             "My sister swears by some sleepy gummies; may I try them?"),
        ),
        "self_care": Complaint(
            ("I have had a mild cold {since}, without a fever; what can I do at home?",
             "I have been constipated now and then {since}; which foods help?"),
            ("My nose has been running like a tap {since}, otherwise I am fine; is soup enough?",
             "Things have been a bit slow in the bathroom {since}; should I eat more prunes?"),
        ),
        "dose_question": Complaint(
            ("Should I take my tablets in the morning or in the evening?",
             "I missed one dose of my vitamin yesterday; should I take two today?"),
            ("Breakfast or bedtime, which is better for the little white ones?",
             "I forgot the sunshine pill last night; do I double up?"),
        ),
        "travel_advice": Complaint(
            ("Which vaccinations do I need for a trip to Peru next year?",
             "Can I take my medicines in my hand luggage when I travel in the summer?"),
            ("We are going to see the llamas next year; do I need any jabs first?",
             "Will the people at the airport make a fuss about my pill box in the summer?"),
        ),
    },
    {
        "chronic_pain": Complaint(
            ("My knee pain has been slowly coming back {since}, and I would like to have it looked at.",
             "I have had low back pain on and off {since}."),
            ("The old hinge in my leg has been complaining again {since} whenever I take the stairs.",
             "Getting out of bed has taken me a few tries {since}, until everything down there loosens up."),
        ),
        "blood_tests": Complaint(
            ("My cholesterol and blood sugar have not been checked {since}; am I due for labs?",
             "I think my thyroid levels should be measured again; the last blood test was long ago."),
            ("Nobody has stuck a needle in me {since}; is it time to look at my numbers again?",
             "It has been ages since you checked whether the little butterfly gland behaves."),
        ),
        "mole": Complaint(
            ("I have a mole on my back that has been growing darker {since}.",
             "There has been a small lump under my skin {since}; it does not hurt, but I want it checked."),
            ("My wife has been watching a brown spot between my shoulders {since} and says it has changed colour.",
             "I have had something like a pea under the skin of my arm {since}; it rolls about and does not hurt."),
        ),
        "check_up": Complaint(
            ("I would like to make an appointment for my yearly physical.",
             "I have been tired {since}, and would like a routine visit to talk about it."),
            ("It is about time for my MOT, could you find me a slot?",
             "I have been dragging myself through the day {since}; a chat at the office would be good."),
        ),
    },
    {
        "urinary_symptoms": Complaint(
            ("I have had burning when I urinate {since} and have to go very often.",
             "I think I have a urinary tract infection; it has hurt to pass water {since}."),
            ("Every trip to the toilet has felt like passing hot needles {since}, and I go twenty times a day.",
             "It has stung down there {since}, and I hardly leave the bathroom."),
        ),
        "out_of_medicine": Complaint(
            ("I took my last tablet today, the pharmacy has no refill, and I must not miss a dose.",
             "I took a double dose of my medicine by mistake this morning; I feel fine, but what should I do now?"),
            ("My pill box is empty as of this morning and the counter downtown just shrugs.",
             "I mixed up Monday and Tuesday in my box and swallowed both at once; all is well so far."),
        ),
        "wound": Complaint(
            ("The cut on my hand has been red around the stitches {since} and a little fluid comes out.",
             "The dressing over my surgical wound has come off and the edges have been open {since}."),
            ("The place where you sewed me up has been a bit angry {since}, and it weeps.",
             "The plaster fell off, and I have seen more of my own inside {since} than I care to."),
        ),
        "ear_or_eye": Complaint(
            ("I have had a severe earache {since}, with some discharge.",
             "My eye has been red and sticky {since} and the light bothers me."),
            ("Someone has been drilling inside the side of my head {since}, and my pillow was wet with something.",
             "I have woken up with one lid glued shut {since}, and I keep the curtains drawn."),
        ),
        "high_readings": Complaint(
            ("My blood pressure has been around 165 over 100 at home {since}; I feel all right.",
             "My blood sugar readings have been over 280 {since}, though I take my medicine."),
            ("The cuff at home has shown much bigger numbers than usual {since}, 165 at the top; I feel all right.",
             "My finger-prick numbers have been through the roof {since}, though I swallow what I am told."),
        ),
    },
)  # fmt: skip
"""Complaints without a red flag, from those that ask for nothing (0) to those that need an answer today (3)."""

SINCE = (
    ("",),
    ("for a few days", "since the weekend", "for about a week"),
    ("for a couple of months", "since the winter", "for half a year", "since the summer"),
    ("since yesterday", "for two days", "since Sunday evening"),
    ("since this morning", "since last night", "for the last few hours", "since lunch"),
)
"""How long the complaint has lasted, by actionability."""

REQUESTS = (
    ("", "No need to reply."),
    ("What do you advise?", "Please let me know when you have time.", ""),
    ("When could I come in?", "Could somebody find me a date?", "Please let me know what you think."),
    ("Could somebody call me today?", "Do I need to come in?", "Can this be sorted out today?"),
    ("Should I come in?", "What should I do now?", "Please tell me what you think.", ""),
)
"""The request, by actionability."""

GREETINGS = ("Hello,", "Dear doctor,", "Hi,", "Good morning,", "To whom it may concern,")
OPENERS = {
    "neutral": ("I hope you are well.", "I have a question.", "I am writing about myself.", ""),
    "urgent": (
        "URGENT, please read this right away!",
        "I need an answer as soon as possible!",
        "Please help me, I am very worried!",
    ),
    "calm": ("It is probably nothing.", "No hurry with this.", "Sorry to bother you with such a small thing."),
}
"""First sentences, drawn independently of the complaint, so that the tone does not reveal the urgency."""
CLOSINGS = ("Thank you.", "Thanks a lot!", "Best regards", "Thank you for your time.", "")

CONDITIONS = {
    "Essential hypertension": "lisinopril 10 mg tablet",
    "Hyperlipidemia": "atorvastatin 20 mg tablet",
    "Hypothyroidism": "levothyroxine 50 mcg tablet",
    "Gastroesophageal reflux disease": "omeprazole 20 mg capsule",
    "Generalized anxiety disorder": "sertraline 50 mg tablet",
    "Osteoarthritis of the knee": "acetaminophen 500 mg tablet",
    "Seasonal allergic rhinitis": "loratadine 10 mg tablet",
    "Migraine without aura": "sumatriptan 50 mg tablet",
    "Vitamin D deficiency": "cholecalciferol 1,000 unit capsule",
    "Insomnia": "trazodone 50 mg tablet",
    "Type 2 diabetes mellitus": "metformin 500 mg tablet",
    "Coronary artery disease": "aspirin 81 mg tablet",
    "Atrial fibrillation": "apixaban 5 mg tablet",
    "Heart failure": "furosemide 40 mg tablet",
    "Chronic obstructive pulmonary disease": "tiotropium 18 mcg inhaler",
    "Asthma": "albuterol 90 mcg inhaler",
    "History of ischemic stroke": "clopidogrel 75 mg tablet",
    "History of deep vein thrombosis": "warfarin 5 mg tablet",
    "Lymphoma, on chemotherapy": "ondansetron 8 mg tablet",
    "Kidney transplant": "tacrolimus 1 mg capsule",
    "Rheumatoid arthritis": "prednisone 10 mg tablet",
    "Chronic kidney disease, stage 3": "losartan 25 mg tablet",
    "Osteoporosis": "alendronate 70 mg tablet",
    "Parkinson disease": "carbidopa-levodopa 25-100 mg tablet",
    "Myasthenia gravis": "pyridostigmine 60 mg tablet",
    "Recent knee replacement": "oxycodone 5 mg tablet",
    "Allergy to insect venom": "epinephrine 0.3 mg auto-injector",
}
"""Conditions of a record, with the medicine for each."""
OF_LATER_LIFE = (
    "Osteoarthritis of the knee", "Coronary artery disease", "Heart failure", "Chronic obstructive pulmonary disease",
    "History of ischemic stroke", "Osteoporosis", "Parkinson disease", "Recent knee replacement",
)  # fmt: skip
"""Conditions of people over fifty only."""
PASSING = (
    "Acute upper respiratory infection", "Low back pain", "Acute sinusitis", "Contact dermatitis", "Sprain of ankle",
    "Encounter for general adult examination", "Encounter for immunization", "Dizziness", "Headache",
    "Impacted cerumen",
)  # fmt: skip
"""Past diagnoses."""
COURSES = (
    "amoxicillin 500 mg capsule",
    "benzonatate 100 mg capsule",
    "ibuprofen 600 mg tablet",
    "cephalexin 500 mg capsule",
)
"""Medicines of a limited course."""
