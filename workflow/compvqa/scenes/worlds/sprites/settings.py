"""The settings of the sprites world."""

from pydantic import Field

from compvqa.settings import Settings


class SpritesSettings(Settings):
    """How many scenes are drawn, what they look like, and how careless their annotators are.

    Each rate is a probability between 0 and 1, drawn for each thing by itself. The defaults make about a quarter
    of the unfiltered questions invalid, about three of four of these for what is missing (COVR, App. E.1: 53 to 17).
    """

    train_scenes: int = Field(600, ge=0, description="Number of train scenes.")
    val_scenes: int = Field(200, ge=0, description="Number of val scenes.")
    encoder_scenes: int = Field(
        600, ge=0, description="Number of scenes outside the test-bed, which the features' encoder learns from."
    )
    calibration_scenes: int = Field(
        300, ge=0, description="Number of scenes outside the test-bed, by which filters' thresholds are set."
    )
    situations: float = Field(0.3, ge=0, le=1, description="Share of scenes in imSitu's format (ternary relations).")
    width: int = Field(320, ge=240, description="Width of a picture, in pixels.")
    height: int = Field(240, ge=200, description="Height of a picture, in pixels.")
    min_objects: int = Field(2, ge=1, description="Fewest drawn objects in a scene.")
    max_objects: int = Field(8, ge=4, description="Most drawn objects in a scene.")
    repeat: float = Field(0.5, ge=0, le=1, description="How readily a scene repeats a kind of thing it already has.")
    missing_object: float = Field(0.08, ge=0, le=1, description="Rate of objects that annotators leave out.")
    missing_another: float = Field(
        0.75, ge=0, le=1, description="The same for a further object of a kind that the scene already has."
    )
    missing_attribute: float = Field(0.18, ge=0, le=1, description="Rate of attributes left out.")
    missing_relation: float = Field(0.22, ge=0, le=1, description="Rate of relations and modifiers left out.")
    missing_position: float = Field(
        0.3, ge=0, le=1, description="Rate of mere positions (next to, behind, in front of, under) left out."
    )
    wrong_name: float = Field(0.01, ge=0, le=1, description="Rate of objects called by a wrong name.")
    wrong_attribute: float = Field(0.01, ge=0, le=1, description="Rate of wrong attributes.")
    wrong_relation: float = Field(0.013, ge=0, le=1, description="Rate of wrong relations.")
    hypernym: float = Field(
        0.05, ge=0, le=1, description="Rate of objects and relations called by a more general name."
    )
    synonym: float = Field(0.08, ge=0, le=1, description="Rate of synonyms, where a name has one.")
    disagreement: float = Field(0.1, ge=0, le=1, description="Rate at which one of imSitu's three frames differs.")
    workers: int = Field(0, ge=0, description="Processes that draw; 0: one a core. The bytes do not depend on it.")
